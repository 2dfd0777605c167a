"""The instrument judges its own run: valid, invalid or unknown, gate by gate."""

from dunnage.analysis.checks.evidence import Bounds as Bounds
from dunnage.analysis.checks.evidence import Evidence as Evidence
from dunnage.analysis.checks.evidence import MemberState as MemberState
from dunnage.analysis.checks.judge import CONTROL as CONTROL
from dunnage.analysis.checks.judge import DISTURBANCES as DISTURBANCES
from dunnage.analysis.checks.judge import GATES as GATES
from dunnage.analysis.checks.judge import against as against
from dunnage.analysis.checks.judge import disturbed as disturbed
from dunnage.analysis.checks.judge import judge as judge
from dunnage.analysis.checks.judge import status as status
from dunnage.analysis.checks.machine import kept_time as kept_time

"""`dunnage lab`: a real multi-node orchestrator on this machine, without a study."""

HELP = "Hosts on this machine, with a real Swarm or Kubernetes: to look at, and to try things on."
EXAMPLES = "Examples:  dunnage lab up --swarm  ·  dunnage lab shell db-1  ·  dunnage lab down"
VERBS = ("up", "status", "shell", "down")

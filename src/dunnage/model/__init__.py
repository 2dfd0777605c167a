"""The values that everything else speaks in. Frozen; everyone imports them, they import no one."""

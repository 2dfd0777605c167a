"""What several verbs need, or one verb's option does: no file here is a verb."""

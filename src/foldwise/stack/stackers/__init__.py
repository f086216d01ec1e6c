"""What can stand on top of the learners."""

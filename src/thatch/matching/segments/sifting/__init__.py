"""What is left over of a box."""

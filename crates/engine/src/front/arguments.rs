//! What can be typed after `drive`.

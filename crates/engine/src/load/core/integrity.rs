//! Values that follow from the key and the field, so that what is read can be judged.

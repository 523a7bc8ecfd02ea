// The record as a model, at the extent of the campaign: more histories, from a seed of the run.
import '../record/sequences.test'
import '../record/interleavings.test'

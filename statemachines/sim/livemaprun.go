package sim

// LiveMapRun is the run of a distributed Map in a World. It is safe for concurrent use.
type LiveMapRun struct {
	run *mapRun
}

package history

// findAct finds the poll on whose answer the machine acted on the job's end, by the visits
// of the job's strand. As long as the turns of the loop stay among the states that they
// went through before the end, the machine has not acted.
func (j *Job) findAct(strand []*Visit) int {
	seen, last := j.EndPoll(), len(j.Polls)-1
	if seen < 0 || seen == last {
		return seen
	}
	loop := map[string]bool{} // the states of turns before the end
	poll := -1                // that was made last
	for _, v := range strand {
		made := poll
		for poll < last && j.Polls[poll+1].Visit == v {
			poll++
		}
		switch {
		case poll > made && made >= seen && j.Polls[made+1].Verdict == Retry:
			return made // the job of another turn of a loop around this one
		case poll > made || poll < 0:
		case poll < seen:
			loop[v.State] = true
		case len(loop) > 0 && !loop[v.State]:
			return poll
		}
	}
	return last
}

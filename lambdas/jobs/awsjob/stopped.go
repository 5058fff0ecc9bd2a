package awsjob

import "slices"

// WasStopped implements jobs.StopTeller.
func (d *described) WasStopped(output any) (stopped, known bool) {
	if d.status == nil {
		return false, false
	}
	value, err := d.status.Eval(output)
	status, ok := value.(string)
	return slices.Contains(d.entry.Job.Stop.Statuses, status), err == nil && ok
}

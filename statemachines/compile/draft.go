package compile

import "github.com/jobpoller/jobpoller/pollcore"

// draft is a plan on its way to states.
type draft struct {
	*plan
	refusal

	used map[string]bool // the states that Options.Names renames
}

func (d *draft) err() error { return d.refusal.err(d.waiter.Name, d.options.Strategy) }

// name is the name of a state.
func (d *draft) name(s string) string {
	if name, ok := d.options.Names[s]; ok {
		d.used[s] = true
		return name
	}
	return d.options.Prefix + s
}

// exit is the state that follows a status.
func (d *draft) exit(status pollcore.Status) string {
	if d.options.Exits != nil {
		return d.options.Exits[status]
	}
	return d.name(map[pollcore.Status]string{pollcore.Succeeded: "Succeeded", pollcore.Failed: "Failed", pollcore.TimedOut: "TimedOut"}[status])
}

// afterDeadline is the state that follows when the time is over.
func (d *draft) afterDeadline() string {
	if d.call.Stop != nil {
		return d.name(d.call.Stop.Operation)
	}
	return d.exit(pollcore.TimedOut)
}

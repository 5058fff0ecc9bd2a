package sim

import (
	"encoding/json"
	"maps"
	"strconv"
)

// redrive records the redrive and goes on with what did not succeed.
func (x *execution) redrive() {
	x.result.Status, x.result.Error, x.result.Cause = "", "", ""
	x.result.redriveCount++
	object := maps.Clone(x.result.context)
	object["RedriveCount"] = json.Number(strconv.Itoa(x.result.redriveCount))
	object["RedriveTime"] = formatTime(x.run.clock.Now())
	x.result.context = object
	x.bill()
	x.record(ExecutionRedriven, x.lastEvent(), Details{RedriveCount: x.result.redriveCount})
	s := x.result.root
	x.follow(s)
	s.last = x.lastEvent()
	s.resume()
}

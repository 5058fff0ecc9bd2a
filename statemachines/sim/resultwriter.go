package sim

import (
	"errors"
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// export writes the results of the child executions as the state's ResultWriter says, and
// then goes on with the output of the Map.
func (r *mapRun) export(c *composite, then func(output *Payload, f *failure) *failure) *failure {
	s := r.owner
	w := s.state.Map.ResultWriter
	results := r.results(c)
	if w.Resource == "" {
		return then(newPayload(plainResults(selectResults(w.Transformation, results))), nil)
	}
	field := "Parameters"
	if s.jsonata() {
		field = "Arguments"
	}
	input, f := s.applyInputPath()
	if f != nil {
		return then(nil, f)
	}
	arguments, f := s.applyTemplate(field, w.Parameters, data{input: input}, emptyObject())
	if f != nil {
		return then(nil, f)
	}
	members, _ := arguments.Value().(map[string]any)
	bucket, _ := members["Bucket"].(string)
	prefix, _ := members["Prefix"].(string)
	files, err := writeResults(w, bucket, prefix, r.arn, results, mostResultBytes)
	if err != nil {
		return then(nil, &failure{name: errorResultWriter, cause: cutCause(err.Error())})
	}
	details := map[string]any{"Bucket": bucket, "Key": files[len(files)-1].Key}
	output := newPayload(map[string]any{"MapRunArn": r.arn, "ResultWriterDetails": details})
	return r.put(bucket, files, func(f *failure) *failure {
		if f == nil {
			r.written = len(results)
		}
		return then(output, f)
	})
}

// put puts objects one after the other. In a run that is not of a World they go nowhere
// unless a handler takes them.
func (r *mapRun) put(bucket string, files []resultFile, then func(*failure) *failure) *failure {
	s := r.owner
	o := &s.x.run.options
	h, of := o.objectHandler(s.state.Map.ResultWriter.Resource, func(of string) Handler { return o.Handlers[of] })
	if h == nil && s.x.run.world != nil {
		h = noHandler
	}
	if h == nil || len(files) == 0 {
		return then(nil)
	}
	file := files[0]
	arguments := map[string]any{"Bucket": bucket, "Key": file.Key, "Body": string(file.body)}
	s.callObjects(h, of, arguments, func(_ Reply, err error) {
		if err == nil {
			s.failState(r.put(bucket, files[1:], then))
			return
		}
		if _, isTask := errors.AsType[*TaskError](err); !isTask {
			err = fmt.Errorf("state %q: handler of the result writer: %w", s.state.Name, err)
		}
		s.failState(then(s.objectFailure(errorResultWriter, err)))
	})
	return nil
}

// results are those of the child executions, in the order of their items.
func (r *mapRun) results(c *composite) []*childResult {
	s := r.owner
	machine := arn(s.x.run.options, "stateMachine") + s.x.run.options.StateMachine + "/" + r.label
	included := dataIncluded{true}
	results := make([]*childResult, 0, len(c.branches))
	for i, b := range c.branches {
		x := r.children[i]
		out := &childResult{StateMachineARN: machine, InputDetails: included, OutputDetails: included, Status: statusPending}
		results = append(results, out)
		if x == nil {
			if input, f := b.input(); f == nil {
				out.Input = string(input.JSON())
			}
			continue
		}
		out.Name, _ = x.result.context["Name"].(string)
		out.Input = string(newPayload(x.result.context["Input"]).JSON())
		out.ExecutionARN, out.Status = x.result.ExecutionARN, string(x.result.Status)
		out.Error, out.Cause, out.Output = x.result.Error, x.result.Cause, string(x.result.Output)
		out.StartDate, out.StopDate = formatTime(x.result.Start), formatTime(x.result.Stop)
		out.RedriveCount = x.result.redriveCount
		out.RedriveStatus, out.RedriveStatusReason = redriveOf(x.result.Status, s.state.Map.ExecutionType)
		if b.done {
			out.output = b.output.Value()
		}
	}
	return results
}

// redriveOf tells whether a redrive of the Map Run would go on with a child execution.
func redriveOf(status Status, kind asl.ExecutionType) (redrivable, reason string) {
	switch {
	case status == StatusSucceeded:
		return "NOT_REDRIVABLE", "Execution is SUCCEEDED and cannot be redriven"
	case kind == asl.Express:
		return "NOT_REDRIVABLE", ""
	default:
		return "REDRIVABLE_BY_MAP_RUN", ""
	}
}

// plainResults makes values that go on as output of the state.
func plainResults(items []any) []any {
	out := make([]any, len(items))
	for i, item := range items {
		value, err := normalize(item)
		if err != nil {
			panic("sim: a result that it made itself is not JSON: " + err.Error())
		}
		out[i] = value
	}
	return out
}

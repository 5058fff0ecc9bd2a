package awsjob

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

// JobIDs implements jobs.Announcer: a job without events has no ids.
func (d *job) JobIDs(ref jobs.Ref) ([]string, error) {
	if d.entry.Job.Event == nil {
		return nil, nil
	}
	input, err := d.describeInput(ref)
	if err != nil {
		return nil, err
	}
	return d.entry.Job.Event.JobIDs(input)
}

// ReadEvent implements jobs.Announcer.
func (d *job) ReadEvent(event map[string]any) (id string, ok bool) {
	of := d.entry.Job.Event
	if of == nil || !of.Takes(event) {
		return "", false
	}
	id, err := of.JobID(event)
	return id, err == nil
}

// Batch implements jobs.BatchDescriber. Its error says that no call describes many such
// jobs, or not this one.
func (d *job) Batch(ref jobs.Ref) (jobs.Batch, error) {
	of := d.entry.Job.Batch
	if of == nil {
		return jobs.Batch{}, fmt.Errorf("%s: no operation describes many jobs at once", d.name)
	}
	input, err := d.describeInput(ref)
	if err != nil {
		return jobs.Batch{}, err
	}
	ids, err := of.JobIDs(input)
	if err != nil {
		return jobs.Batch{}, err
	}
	group, err := json.Marshal(of.Input(input, nil))
	return jobs.Batch{Group: string(group), Size: len(ids), Max: of.Max}, err
}

// DescribeBatch implements jobs.BatchDescriber.
func (d *job) DescribeBatch(ctx context.Context, refs []jobs.Ref) ([]any, error) {
	of := d.entry.Job.Batch
	call, err := d.prepare(d.client, of.Operation) //nolint:contextcheck // once for all calls
	if err != nil {
		return nil, err
	}
	var all []any
	var first map[string]any
	asked := map[string]bool{}
	keys := make([][]string, len(refs)) // of the ids of each job
	for i, ref := range refs {
		input, err := d.describeInput(ref)
		if err != nil {
			return nil, err
		}
		ids, err := of.JobIDs(input)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = input
		}
		for _, id := range ids {
			key := idKey(id)
			keys[i] = append(keys[i], key)
			if !asked[key] { // two waits may have one job
				asked[key], all = true, append(all, id)
			}
		}
	}
	text, err := json.Marshal(of.Input(first, all))
	if err != nil {
		return nil, err
	}
	in, err := call.read(text, reading{spell: modelSpelling, unseen: true, name: "the job references of " + d.name})
	if err != nil {
		return nil, err
	}
	answer, err := call.do(ctx, in, modelSpelling)
	if err != nil {
		return nil, err
	}
	elements, ids, err := of.ReadElements(answer)
	if err != nil {
		return nil, err
	}
	found := map[string]any{}
	for i, id := range ids {
		found[idKey(id)] = elements[i]
	}
	outputs := make([]any, len(refs))
	for i := range refs {
		if outputs[i], err = d.outputOf(keys[i], found); err != nil {
			return nil, err
		}
	}
	return outputs, nil
}

// outputOf is the output of Describe for a job, made of the elements that have its ids:
// nil where one is not found.
func (d *job) outputOf(keys []string, found map[string]any) (any, error) {
	var elements []any
	for _, key := range keys {
		element, ok := found[key]
		if !ok {
			return nil, nil
		}
		elements = append(elements, element)
	}
	text, err := json.Marshal(d.entry.Job.Batch.AnswerOf(elements))
	if err != nil {
		return nil, err
	}
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	return respell(doc.Root, d.entry.Operation.Output, modelSpelling, javasdk.MemberName), nil
}

// idKey tells ids apart, which are strings or objects of them.
func idKey(id any) string {
	text, err := json.Marshal(id)
	if err != nil {
		panic(err) // it was JSON
	}
	return string(text)
}

// describeInput is the input of the describe call for a job, in the model's spelling.
func (d *job) describeInput(ref jobs.Ref) (map[string]any, error) {
	in, err := d.describe.fromRef(d.name, ref)
	if err != nil {
		return nil, err
	}
	return in.value(), nil
}

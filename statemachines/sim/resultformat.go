package sim

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// What a result writer makes of results.
const (
	transformNone    = "NONE"
	transformFlatten = "FLATTEN"
)

// childResult is a child execution as a result writer exports it. Members are in the
// order in which AWS writes them.
type childResult struct {
	Cause               string       `json:"Cause,omitempty"`
	Error               string       `json:"Error,omitempty"`
	ExecutionARN        string       `json:"ExecutionArn,omitempty"`
	Input               string       `json:"Input"`
	InputDetails        dataIncluded `json:"InputDetails"`
	Name                string       `json:"Name,omitempty"`
	Output              string       `json:"Output,omitempty"`
	OutputDetails       dataIncluded `json:"OutputDetails"`
	RedriveCount        int          `json:"RedriveCount"`
	RedriveStatus       string       `json:"RedriveStatus,omitempty"`
	RedriveStatusReason string       `json:"RedriveStatusReason,omitempty"`
	StartDate           string       `json:"StartDate,omitempty"`
	StateMachineARN     string       `json:"StateMachineArn"`
	Status              string       `json:"Status"`
	StopDate            string       `json:"StopDate,omitempty"`

	output any
}

type dataIncluded struct {
	Included bool `json:"Included"`
}

// statusPending is that of a child execution that did not start.
const statusPending = "PENDING"

// The kinds of results that have files of their own, in the order of a manifest.
const (
	failedResults    = "FAILED"
	pendingResults   = statusPending
	succeededResults = "SUCCEEDED"
)

func (r *childResult) kind() string {
	switch r.Status {
	case string(StatusSucceeded):
		return succeededResults
	case statusPending:
		return pendingResults
	default:
		return failedResults
	}
}

// selectResults returns what a result writer exports: of the results, those that did not succeed whole,
// of the others what the transformation leaves.
func selectResults(transformation string, results []*childResult) []any {
	items := make([]any, 0, len(results))
	for _, r := range results {
		list, isList := r.output.([]any)
		switch {
		case r.kind() != succeededResults || transformation == transformNone || transformation == "":
			items = append(items, r)
		case transformation == transformFlatten && isList:
			items = append(items, list...)
		default:
			items = append(items, r.output)
		}
	}
	return items
}

// resultFile is an object that a result writer puts.
type resultFile struct {
	Key  string `json:"Key"`
	Size int    `json:"Size"`

	body []byte
}

// writeResults writes the objects of a result writer below a prefix, the manifest last.
func writeResults(w *asl.ResultWriter, bucket, prefix, mapRunARN string, results []*childResult) ([]resultFile, error) {
	manifest := struct {
		DestinationBucket string                  `json:"DestinationBucket"`
		MapRunARN         string                  `json:"MapRunArn"`
		ResultFiles       map[string][]resultFile `json:"ResultFiles"`
	}{bucket, mapRunARN, map[string][]resultFile{}}
	byKind := map[string][]*childResult{}
	for _, r := range results {
		byKind[r.kind()] = append(byKind[r.kind()], r)
	}
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	prefix += mapRunARN[strings.LastIndexByte(mapRunARN, ':')+1:] + "/"
	var files []resultFile
	for _, kind := range []string{failedResults, pendingResults, succeededResults} {
		manifest.ResultFiles[kind] = []resultFile{}
		if len(byKind[kind]) == 0 {
			continue
		}
		f := resultFile{Key: prefix + kind + "_0.json"}
		if w.OutputType == formatJSONL {
			f.Key += "l"
		}
		var err error
		if f.body, err = writeItems(selectResults(w.Transformation, byKind[kind]), w.OutputType == formatJSONL); err != nil {
			return nil, err
		}
		f.Size = len(f.body)
		files, manifest.ResultFiles[kind] = append(files, f), []resultFile{f}
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		return nil, err
	}
	return append(files, resultFile{Key: prefix + "manifest.json", Size: len(text), body: text}), nil
}

// writeItems writes a list, or an item a line.
func writeItems(items []any, lines bool) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if !lines {
		err := e.Encode(items)
		return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
	}
	for _, item := range items {
		if err := e.Encode(item); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

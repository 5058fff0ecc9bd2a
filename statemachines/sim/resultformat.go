package sim

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
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

// mostResultBytes is how large an object with results is at most.
const mostResultBytes = 5 << 30

// writeResults writes the objects of a result writer below a prefix, the manifest last.
// An object has at most so many bytes, unless a single result has more.
func writeResults(w *asl.ResultWriter, bucket, prefix, mapRunARN string, results []*childResult, most int) ([]resultFile, error) {
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
		extension := ".json"
		if w.OutputType == formatJSONL {
			extension += "l"
		}
		bodies, err := writeItems(selectResults(w.Transformation, byKind[kind]), w.OutputType == formatJSONL, most)
		if err != nil {
			return nil, err
		}
		for i, body := range bodies {
			f := resultFile{Key: prefix + kind + "_" + strconv.Itoa(i) + extension, Size: len(body), body: body}
			files, manifest.ResultFiles[kind] = append(files, f), append(manifest.ResultFiles[kind], f)
		}
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		return nil, err
	}
	return append(files, resultFile{Key: prefix + "manifest.json", Size: len(text), body: text}), nil
}

// writeItems writes lists, or an item a line, of at most so many bytes each.
func writeItems(items []any, lines bool, most int) ([][]byte, error) {
	write := func(texts [][]byte) []byte {
		if lines {
			return bytes.Join(append(texts, nil), []byte("\n"))
		}
		return slices.Concat([]byte("["), bytes.Join(texts, []byte(",")), []byte("]"))
	}
	var bodies, texts [][]byte
	size := 0 // of texts, with what stands around each
	for _, item := range items {
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		if err := e.Encode(item); err != nil {
			return nil, err
		}
		if len(texts) > 0 && size+out.Len()+1 > most {
			bodies, texts, size = append(bodies, write(texts)), nil, 0
		}
		texts = append(texts, bytes.TrimSuffix(out.Bytes(), []byte("\n")))
		size += out.Len()
	}
	return append(bodies, write(texts)), nil
}

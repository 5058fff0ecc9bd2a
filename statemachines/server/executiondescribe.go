package server

import (
	"strings"
)

// metadataOnly is the includedData of a request that wants no data of the user's.
const metadataOnly = "METADATA_ONLY"

// included tells whether an answer holds the data.
type included struct {
	Included bool `json:"included"`
}

type describeExecutionInput struct {
	ExecutionArn string `json:"executionArn"`
	IncludedData string `json:"includedData"`
}

type describeExecutionOutput struct {
	ExecutionArn           string    `json:"executionArn"`
	StateMachineArn        string    `json:"stateMachineArn"`
	Name                   string    `json:"name"`
	Status                 string    `json:"status"`
	StartDate              epoch     `json:"startDate"`
	StopDate               epoch     `json:"stopDate,omitzero"`
	Input                  string    `json:"input,omitempty"`
	InputDetails           *included `json:"inputDetails,omitempty"`
	Output                 string    `json:"output,omitempty"`
	OutputDetails          *included `json:"outputDetails,omitempty"`
	TraceHeader            string    `json:"traceHeader,omitempty"`
	MapRunArn              string    `json:"mapRunArn,omitempty"`
	Error                  string    `json:"error,omitempty"`
	Cause                  string    `json:"cause,omitempty"`
	StateMachineVersionArn string    `json:"stateMachineVersionArn,omitempty"`
	StateMachineAliasArn   string    `json:"stateMachineAliasArn,omitempty"`
	RedriveCount           int       `json:"redriveCount"`
	RedriveDate            epoch     `json:"redriveDate,omitzero"`
	RedriveStatus          string    `json:"redriveStatus,omitempty"`
	RedriveStatusReason    string    `json:"redriveStatusReason,omitempty"`
}

func describeExecution(r *request, in *describeExecutionInput) (*describeExecutionOutput, error) {
	k, err := r.findDescribed(in.ExecutionArn)
	if err != nil {
		return nil, err
	}
	return r.describe(k, in.IncludedData != metadataOnly), nil
}

func (r *request) describe(k known, withData bool) *describeExecutionOutput {
	s := k.run.Snapshot()
	out := &describeExecutionOutput{
		ExecutionArn: s.ARN, StateMachineArn: k.machineARN(), Name: s.Name, Status: string(s.Status),
		StartDate: epoch(s.Start), StopDate: epoch(s.Stop), InputDetails: &included{withData}, MapRunArn: s.MapRunARN,
		RedriveCount: s.RedriveCount, RedriveDate: epoch(s.RedriveDate),
	}
	if s.Output != nil {
		out.OutputDetails = &included{withData}
	}
	if withData {
		out.Input, out.Output, out.Error, out.Cause = string(s.Input), string(s.Output), s.Error, s.Cause
	}
	if k.extra != nil && !k.isChild() {
		out.StateMachineVersionArn, out.StateMachineAliasArn, out.TraceHeader = k.extra.versionARN, k.extra.aliasARN, k.extra.traceHeader
	}
	status, reason := r.redriveStatus(k, s)
	out.RedriveStatus, out.RedriveStatusReason = string(status), reason
	return out
}

// machineARN is the ARN of the execution's state machine: that of a child execution
// ends in the label of its Map Run.
func (k known) machineARN() string {
	if !k.isChild() {
		return k.machine.arn
	}
	return k.machine.arn + "/" + k.label()
}

// label is that of a child execution's Map Run, which stands behind the name of the
// state machine in its ARN.
func (k known) label() string {
	_, label, _ := strings.Cut(k.run.ARN(), "/")
	label, _, _ = strings.Cut(label, ":")
	return label
}

type describeMachineForExecutionInput struct {
	ExecutionArn string `json:"executionArn"`
	IncludedData string `json:"includedData"`
}

type describeMachineForExecutionOutput struct {
	StateMachineArn         string                  `json:"stateMachineArn"`
	Name                    string                  `json:"name"`
	Definition              string                  `json:"definition"`
	RoleArn                 string                  `json:"roleArn"`
	UpdateDate              epoch                   `json:"updateDate"`
	LoggingConfiguration    loggingConfiguration    `json:"loggingConfiguration"`
	TracingConfiguration    tracingConfiguration    `json:"tracingConfiguration"`
	MapRunArn               string                  `json:"mapRunArn,omitempty"`
	Label                   string                  `json:"label,omitempty"`
	RevisionID              string                  `json:"revisionId,omitempty"`
	EncryptionConfiguration encryptionConfiguration `json:"encryptionConfiguration"`
	VariableReferences      map[string][]string     `json:"variableReferences,omitempty"`
}

func describeMachineForExecution(r *request, in *describeMachineForExecutionInput) (*describeMachineForExecutionOutput, error) {
	k, err := r.findExecution(in.ExecutionArn)
	if err != nil {
		return nil, err
	}
	v, s := k.revision, k.run.Snapshot()
	out := &describeMachineForExecutionOutput{
		StateMachineArn: k.machineARN(), Name: k.machine.name, Definition: v.definition, RoleArn: v.role, UpdateDate: epoch(v.updated),
		LoggingConfiguration: v.logging, TracingConfiguration: v.tracing, EncryptionConfiguration: v.encryption, RevisionID: v.id,
		MapRunArn: s.MapRunARN, VariableReferences: v.variableReferences(),
	}
	if k.isChild() {
		out.Label = k.label()
	}
	if in.IncludedData == metadataOnly {
		out.Definition, out.VariableReferences = "", nil
	}
	return out, nil
}

package stepfunctions

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Machine is a state machine at AWS, or a version of one.
type Machine struct {
	ARN, Definition string
	Type            asl.ExecutionType
	// Deleting tells that somebody has deleted it, and executions still run.
	Deleting bool
	// Key is the customer's key that encrypts the definition; empty for a key of AWS.
	Key string
}

// described is the answer of an operation that describes a state machine.
type described struct {
	Definition, Type, Status string
	EncryptionConfiguration  struct{ KmsKeyID, Type string }
}

// customersKey is the type of an encryption by a key of the customer.
const customersKey = "CUSTOMER_MANAGED_KMS_KEY"

func (d *described) machine(arn string) *Machine {
	m := &Machine{ARN: arn, Definition: d.Definition, Type: asl.ExecutionType(d.Type), Deleting: d.Status == "DELETING"}
	if d.EncryptionConfiguration.Type == customersKey {
		m.Key = d.EncryptionConfiguration.KmsKeyID
	}
	return m
}

// Describe reads a state machine or a version by its ARN. Its error is a *CallError.
func (c *Client) Describe(ctx context.Context, arn string) (*Machine, error) {
	return c.describe(ctx, "DescribeStateMachine", arn, map[string]any{"stateMachineArn": arn})
}

// DescribeKey reads what Describe does without the definition, which needs no permission
// for the key. Its error is a *CallError.
func (c *Client) DescribeKey(ctx context.Context, arn string) (*Machine, error) {
	return c.describe(ctx, "DescribeStateMachine", arn, map[string]any{"stateMachineArn": arn, "includedData": "METADATA_ONLY"})
}

// DescribeOf reads the definition that an execution runs. Its error is a *CallError.
func (c *Client) DescribeOf(ctx context.Context, execution string) (*Machine, error) {
	m, err := c.describe(ctx, "DescribeStateMachineForExecution", execution, map[string]any{"executionArn": execution})
	if err == nil {
		m.Type = asl.Standard // of Express executions Step Functions keeps nothing
	}
	return m, err
}

func (c *Client) describe(ctx context.Context, operation, arn string, input map[string]any) (*Machine, error) {
	var answer described
	err := c.persist(ctx, func(ctx context.Context) error {
		answer = described{}
		if err := c.pace(ctx, operation, regionOf(arn)); err != nil {
			return err
		}
		return c.do(ctx, operation, input, &answer)
	})
	if err != nil {
		return nil, err
	}
	return answer.machine(arn), nil
}

// Definition reads the definition of the state machine. Its error is a *CallError.
func (c *Client) Definition(ctx context.Context, o *Origin) (*Machine, error) {
	if o.kind == executionKind {
		return c.DescribeOf(ctx, o.ARN)
	}
	return c.Describe(ctx, o.machineARN())
}

// IsAlias tells whether the ARN is that of an alias, and not of a version.
func (o *Origin) IsAlias() bool { return o.kind == machineKind && o.qualifier != "" && !o.isVersion() }

// IsExecution tells whether the ARN is that of an execution.
func (o *Origin) IsExecution() bool { return o.kind == executionKind }

// IsMapRun tells whether the ARN is that of a Map Run.
func (o *Origin) IsMapRun() bool { return o.kind == mapRunKind }

func (o *Origin) isVersion() bool {
	_, err := strconv.Atoi(o.qualifier)
	return err == nil && o.kind == machineKind
}

// machineARN is what DescribeStateMachine takes: the ARN of the state machine or of a
// version, without a label. An alias may lead to two versions.
func (o *Origin) machineARN() string {
	if o.isVersion() {
		return o.ARN
	}
	parts := strings.Split(o.ARN, ":")
	name, _, _ := strings.Cut(o.Machine, "/")
	return strings.Join(append(parts[:5:5], machineKind, name), ":")
}

// Route is the share of an alias's executions that a version gets.
type Route struct {
	ARN    string // of the version
	Weight int    // in percent
}

// Routes reads where an alias leads: to one version or two. Its error is a *CallError.
func (c *Client) Routes(ctx context.Context, alias string) ([]Route, error) {
	const operation = "DescribeStateMachineAlias"
	var answer struct {
		RoutingConfiguration []struct {
			StateMachineVersionArn string
			Weight                 int
		}
	}
	err := c.persist(ctx, func(ctx context.Context) error {
		return c.do(ctx, operation, map[string]any{"stateMachineAliasArn": alias}, &answer)
	})
	if err != nil {
		return nil, err
	}
	var all []Route
	for _, r := range answer.RoutingConfiguration {
		all = append(all, Route{r.StateMachineVersionArn, r.Weight})
	}
	if len(all) == 0 {
		return nil, failCall(operation, fmt.Errorf("%w: the alias leads to no version", ErrAnswer))
	}
	return all, nil
}

// ListMachines lists the ARNs of the state machines in a region, each once. Its error is
// a *CallError.
func (c *Client) ListMachines(ctx context.Context, region string) ([]string, error) {
	const operation = "ListStateMachines"
	input := map[string]any{"maxResults": json.Number(strconv.Itoa(listSize))}
	seen := map[string]bool{}
	var all []string
	for page := 0; ; page++ {
		var answer struct {
			StateMachines []struct{ StateMachineArn string }
			NextToken     string
		}
		err := c.persist(ctx, func(ctx context.Context) error {
			answer.StateMachines, answer.NextToken = nil, ""
			if err := c.pace(ctx, operation, region); err != nil {
				return err
			}
			return c.do(ctx, operation, input, &answer)
		})
		if err != nil {
			return nil, err
		}
		for _, m := range answer.StateMachines {
			if of, err := ParseOrigin(m.StateMachineArn); err != nil || of.kind != machineKind {
				return nil, failCall(operation, fmt.Errorf("%w: it lists %q, which is no state machine", ErrAnswer, m.StateMachineArn))
			}
			if !seen[m.StateMachineArn] {
				seen[m.StateMachineArn] = true
				all = append(all, m.StateMachineArn)
			}
		}
		switch {
		case answer.NextToken == "":
			return all, nil
		case seen[answer.NextToken], page == listPages:
			return nil, failCall(operation, fmt.Errorf("%w: its pages do not end", ErrAnswer))
		}
		seen[answer.NextToken] = true
		input["nextToken"] = answer.NextToken
	}
}

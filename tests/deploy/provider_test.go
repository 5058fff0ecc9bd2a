// Package deploy_test checks the samples of docs/guide/sam-terraform.md with what others
// made: the SAM translator, cfn-lint, CloudFormation Validate and OpenTofu. The files
// of this folder name their versions:
//
//	make check-external
package deploy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/jobpoller/jobpoller/internal/pypi"
)

// providerFile is the name under which this program is the provider, and
// schemaVariable names the file of its schema then.
const (
	providerFile   = "terraform-provider-aws"
	schemaVariable = "JOBPOLLER_PROVIDER_SCHEMA"
)

// TestMain runs the tests or, where OpenTofu runs this program, the provider.
// Without npm and Python nothing is checked, which is a failure in CI.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != providerFile {
		for _, needed := range []string{"npm", pypi.Python()} {
			if _, err := exec.LookPath(needed); err != nil && os.Getenv("CI") != "true" {
				say("suite deploy: not run, there is no %s: install Node.js 20 or later and Python 3.11 or later", needed)
				os.Exit(0)
			}
		}
		os.Exit(m.Run())
	}
	text, err := os.ReadFile(os.Getenv(schemaVariable))
	if err != nil {
		panic(err)
	}
	p := &provider{}
	if err := json.Unmarshal(text, &p.schema); err != nil {
		panic(err)
	}
	if err := tf5server.Serve("registry.opentofu.org/hashicorp/aws", func() tfprotov5.ProviderServer { return p }); err != nil {
		panic(err)
	}
}

// provider stands in for the AWS provider. It has its schema, takes every value of
// the right type, and makes up what AWS would answer. The methods that it lacks are
// those that OpenTofu does not call for a first apply.
type provider struct {
	tfprotov5.ProviderServer

	schema schema
}

func (p *provider) GetMetadata(context.Context, *tfprotov5.GetMetadataRequest) (*tfprotov5.GetMetadataResponse, error) {
	response := &tfprotov5.GetMetadataResponse{}
	for _, name := range slices.Sorted(maps.Keys(p.schema.Resources)) {
		response.Resources = append(response.Resources, tfprotov5.ResourceMetadata{TypeName: name})
	}
	for _, name := range slices.Sorted(maps.Keys(p.schema.DataSources)) {
		response.DataSources = append(response.DataSources, tfprotov5.DataSourceMetadata{TypeName: name})
	}
	return response, nil
}

func (p *provider) GetProviderSchema(context.Context, *tfprotov5.GetProviderSchemaRequest) (*tfprotov5.GetProviderSchemaResponse, error) {
	all := func(blocks map[string]*block) map[string]*tfprotov5.Schema {
		schemas := map[string]*tfprotov5.Schema{}
		for name, b := range blocks {
			schemas[name] = &tfprotov5.Schema{Block: b.protocol()}
		}
		return schemas
	}
	return &tfprotov5.GetProviderSchemaResponse{
		Provider:          &tfprotov5.Schema{Block: &tfprotov5.SchemaBlock{}},
		ResourceSchemas:   all(p.schema.Resources),
		DataSourceSchemas: all(p.schema.DataSources),
	}, nil
}

func (p *provider) GetResourceIdentitySchemas(context.Context, *tfprotov5.GetResourceIdentitySchemasRequest) (*tfprotov5.GetResourceIdentitySchemasResponse, error) {
	return &tfprotov5.GetResourceIdentitySchemasResponse{}, nil
}

func (p *provider) GetFunctions(context.Context, *tfprotov5.GetFunctionsRequest) (*tfprotov5.GetFunctionsResponse, error) {
	return &tfprotov5.GetFunctionsResponse{}, nil
}

func (p *provider) PrepareProviderConfig(_ context.Context, r *tfprotov5.PrepareProviderConfigRequest) (*tfprotov5.PrepareProviderConfigResponse, error) {
	return &tfprotov5.PrepareProviderConfigResponse{PreparedConfig: r.Config}, nil
}

func (p *provider) ConfigureProvider(context.Context, *tfprotov5.ConfigureProviderRequest) (*tfprotov5.ConfigureProviderResponse, error) {
	return &tfprotov5.ConfigureProviderResponse{}, nil
}

func (p *provider) StopProvider(context.Context, *tfprotov5.StopProviderRequest) (*tfprotov5.StopProviderResponse, error) {
	return &tfprotov5.StopProviderResponse{}, nil
}

// ValidateResourceTypeConfig refuses values for what AWS alone decides, as every
// provider does.
func (p *provider) ValidateResourceTypeConfig(_ context.Context, r *tfprotov5.ValidateResourceTypeConfigRequest) (*tfprotov5.ValidateResourceTypeConfigResponse, error) {
	response := &tfprotov5.ValidateResourceTypeConfigResponse{}
	_, err := p.schema.Resources[r.TypeName].filled(r.Config, func(name string, a attribute, old tftypes.Value, _ map[string]tftypes.Value) tftypes.Value {
		if !a.Optional && !old.IsNull() {
			response.Diagnostics = append(response.Diagnostics, &tfprotov5.Diagnostic{
				Severity: tfprotov5.DiagnosticSeverityError, Summary: "Value for unconfigurable attribute", Detail: "AWS decides on " + name + " of " + r.TypeName,
			})
		}
		return old
	})
	return response, err
}

func (p *provider) ValidateDataSourceConfig(context.Context, *tfprotov5.ValidateDataSourceConfigRequest) (*tfprotov5.ValidateDataSourceConfigResponse, error) {
	return &tfprotov5.ValidateDataSourceConfigResponse{}, nil
}

// PlanResourceChange leaves open what AWS decides.
func (p *provider) PlanResourceChange(_ context.Context, r *tfprotov5.PlanResourceChangeRequest) (*tfprotov5.PlanResourceChangeResponse, error) {
	planned, err := p.schema.Resources[r.TypeName].filled(r.ProposedNewState, func(_ string, _ attribute, old tftypes.Value, _ map[string]tftypes.Value) tftypes.Value {
		if old.IsNull() {
			return tftypes.NewValue(old.Type(), tftypes.UnknownValue)
		}
		return old
	})
	return &tfprotov5.PlanResourceChangeResponse{PlannedState: planned}, err
}

// ApplyResourceChange decides that.
func (p *provider) ApplyResourceChange(_ context.Context, r *tfprotov5.ApplyResourceChangeRequest) (*tfprotov5.ApplyResourceChangeResponse, error) {
	created, err := p.schema.Resources[r.TypeName].filled(r.PlannedState, func(name string, _ attribute, old tftypes.Value, of map[string]tftypes.Value) tftypes.Value {
		if !old.IsKnown() {
			return madeUp(r.TypeName, name, old.Type(), of)
		}
		return old
	})
	return &tfprotov5.ApplyResourceChangeResponse{NewState: created}, err
}

func (p *provider) ReadDataSource(_ context.Context, r *tfprotov5.ReadDataSourceRequest) (*tfprotov5.ReadDataSourceResponse, error) {
	read, err := p.schema.DataSources[r.TypeName].filled(r.Config, func(name string, _ attribute, old tftypes.Value, of map[string]tftypes.Value) tftypes.Value {
		if old.IsNull() {
			return madeUp(r.TypeName, name, old.Type(), of)
		}
		return old
	})
	return &tfprotov5.ReadDataSourceResponse{State: read}, err
}

const account = "123456789012"

// madeUp is a value that AWS might give.
func madeUp(typeName, attribute string, t tftypes.Type, of map[string]tftypes.Value) tftypes.Value {
	if !t.Is(tftypes.String) {
		return tftypes.NewValue(t, nil)
	}
	name := "made-up"
	for _, member := range []string{"name", "function_name"} {
		var known string
		if v, ok := of[member]; ok && v.IsKnown() && !v.IsNull() && v.As(&known) == nil {
			name = known
		}
	}
	text := name
	switch attribute {
	case "account_id":
		text = account
	case "partition":
		text = "aws"
	case "arn":
		text = "arn:aws:" + map[string]string{
			"aws_s3_bucket":            "s3:::",
			"aws_iam_role":             "iam::" + account + ":role/",
			"aws_lambda_function":      "lambda:us-east-1:" + account + ":function:",
			"aws_cloudwatch_log_group": "logs:us-east-1:" + account + ":log-group:",
			"aws_sfn_state_machine":    "states:us-east-1:" + account + ":stateMachine:",
		}[typeName] + name
	}
	return tftypes.NewValue(t, text)
}

// filler makes a value of that of a computed attribute; of has those beside it.
type filler func(name string, a attribute, old tftypes.Value, of map[string]tftypes.Value) tftypes.Value

// filled is a value of the block in which every computed attribute is what fill
// makes of it.
func (b *block) filled(value *tfprotov5.DynamicValue, fill filler) (*tfprotov5.DynamicValue, error) {
	t := (&tfprotov5.Schema{Block: b.protocol()}).ValueType()
	v, err := value.Unmarshal(t)
	if err != nil {
		return nil, err
	}
	if v, err = b.fill(v, fill); err != nil {
		return nil, err
	}
	result, err := tfprotov5.NewDynamicValue(t, v)
	return &result, err
}

func (b *block) fill(v tftypes.Value, fill filler) (tftypes.Value, error) {
	if v.IsNull() || !v.IsKnown() {
		return v, nil
	}
	var of map[string]tftypes.Value
	if err := v.As(&of); err != nil {
		return v, err
	}
	for name, a := range b.Attributes {
		if a.Computed {
			of[name] = fill(name, a, of[name], of)
		}
	}
	for name, n := range b.Blocks {
		inner := of[name]
		if inner.IsNull() || !inner.IsKnown() {
			continue
		}
		if n.Mode == "single" {
			filled, err := n.Block.fill(inner, fill)
			if err != nil {
				return v, err
			}
			of[name] = filled
			continue
		}
		var items []tftypes.Value
		if err := inner.As(&items); err != nil {
			return v, fmt.Errorf("%s: %w", name, err)
		}
		for i := range items {
			filled, err := n.Block.fill(items[i], fill)
			if err != nil {
				return v, err
			}
			items[i] = filled
		}
		of[name] = tftypes.NewValue(inner.Type(), items)
	}
	return tftypes.NewValue(v.Type(), of), nil
}

// protocol is the block as the protocol has it.
func (b *block) protocol() *tfprotov5.SchemaBlock {
	result := &tfprotov5.SchemaBlock{}
	for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
		a := b.Attributes[name]
		t, err := tftypes.ParseJSONType(a.Type) //nolint:staticcheck // the one reader of this form
		if err != nil {
			panic(err)
		}
		result.Attributes = append(result.Attributes, &tfprotov5.SchemaAttribute{Name: name, Type: t, Required: a.Required, Optional: a.Optional, Computed: a.Computed})
	}
	for _, name := range slices.Sorted(maps.Keys(b.Blocks)) {
		n := b.Blocks[name]
		mode := map[string]tfprotov5.SchemaNestedBlockNestingMode{
			"list": tfprotov5.SchemaNestedBlockNestingModeList, "set": tfprotov5.SchemaNestedBlockNestingModeSet, "single": tfprotov5.SchemaNestedBlockNestingModeSingle,
		}[strings.ToLower(n.Mode)]
		result.BlockTypes = append(result.BlockTypes, &tfprotov5.SchemaNestedBlock{TypeName: name, Block: n.Block.protocol(), Nesting: mode, MinItems: n.Min, MaxItems: n.Max})
	}
	return result
}

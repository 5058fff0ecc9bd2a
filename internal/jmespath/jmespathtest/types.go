package jmespathtest

import (
	"reflect"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
)

// Shade is an enum.
type Shade string

// Values are those of the enum, as the SDK lists them.
func (Shade) Values() []Shade { return []Shade{"RED", "GREEN"} }

// Fleet has what SDK structs have, in little.
type Fleet struct {
	Name   *string
	State  Status
	Size   *int32
	Ready  *bool
	Share  *float64
	Since  *time.Time
	Blob   []byte
	Tags   map[string]string
	Zones  []string
	Marks  []Status
	Counts []int64
	Grid   [][]int32
	Hosts  []Host
	Spare  []*Host
	Lead   *Host
	Teams  map[string]Host
}

// Host is a part of a Fleet.
type Host struct {
	Name  *string
	State Status
	Load  float64
	Age   *int32
	Ports []int32
	Roles []*string
	Next  *Host
}

// Roots are types of values that random expressions are evaluated on.
var Roots = []reflect.Type{
	reflect.TypeFor[*Fleet](), reflect.TypeFor[*Fleet](), reflect.TypeFor[*Fleet](), reflect.TypeFor[[]Host](),
	reflect.TypeFor[*autoscaling.DescribeAutoScalingGroupsOutput](), reflect.TypeFor[*dynamodb.DescribeExportOutput](),
	reflect.TypeFor[*cloudformation.DescribeStacksOutput](), reflect.TypeFor[*codedeploy.GetDeploymentOutput](),
	reflect.TypeFor[*ecs.DescribeServicesOutput](),
}

// Machine is a type as the SDK has them, which contains itself.
type Machine struct {
	Name, Zone *string
	Shade      Shade
	Shades     []Shade
	Count      *int32
	Weight     float64
	Ready      bool
	Since      *time.Time
	Key        []byte
	Parts      []Machine
	Spare      *Machine
	Tags       map[string]string
	ByZone     map[string]Machine
	Free       any
}

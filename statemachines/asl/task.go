package asl

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

func (p *parser) task(o *object) *Task {
	t := &Task{}
	t.Resource, t.ResourcePosition = o.resource()
	t.TimeoutSeconds = o.whole("TimeoutSeconds", 1, MaxSeconds)
	t.HeartbeatSeconds = o.whole("HeartbeatSeconds", 1, MaxSeconds)
	if timeout, heartbeat := t.TimeoutSeconds.whole(), t.HeartbeatSeconds.whole(); timeout > 0 && heartbeat >= timeout {
		p.add(o.get("HeartbeatSeconds").Problem("\"HeartbeatSeconds\" has to be smaller than \"TimeoutSeconds\" (%d), found %d", timeout, heartbeat))
	}
	if c := o.get("Credentials"); c != nil {
		t.Credentials = p.credentials(c)
	}
	return t
}

// whole is the value of a scalar that states an integer; else 0.
func (s *Scalar) whole() int64 {
	if s == nil {
		return 0
	}
	value, _ := s.Literal.(int64)
	return value
}

// credentials reads the field Credentials: an object with the one member
// RoleArn.
func (p *parser) credentials(n *jsontree.Node) *Template {
	o := p.open(n, "the credentials of a Task")
	if o == nil {
		return nil
	}
	if !o.has("RoleArn") && (p.language == JSONata || !o.has("RoleArn.$")) {
		p.add(n.Problem("\"Credentials\" needs the field \"RoleArn\""))
	}
	o.close("RoleArn", "RoleArn.$")
	return p.template(n)
}

// resource reads the field Resource.
func (o *object) resource() (string, Position) {
	o.require("Resource")
	n := o.typed("Resource", jsontree.String)
	if n == nil {
		return "", Position{}
	}
	position := o.p.position(n.Pointer, n.Offset)
	if o.p.placeholder(n, false) {
		return n.Text, position
	}
	if !strings.HasPrefix(n.Text, "arn:") {
		o.p.add(n.Problem("expected the ARN of a resource, found %s", n.Describe()))
		return n.Text, position
	}
	o.p.checkIntegration(n, ParseResource(n.Text))
	return n.Text, position
}

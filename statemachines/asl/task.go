package asl

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

func (p *parser) task(o *object) *Task {
	t := &Task{}
	t.Resource, t.ResourcePosition = o.resource()
	p.checkCall(o, ParseResource(t.Resource))
	t.TimeoutSeconds = o.whole("TimeoutSeconds", 1, MaxSeconds)
	t.HeartbeatSeconds = o.whole("HeartbeatSeconds", 1, MaxSeconds)
	if timeout, heartbeat := t.TimeoutSeconds.whole(), t.HeartbeatSeconds.whole(); timeout > 0 && heartbeat >= timeout {
		p.add(o.get("HeartbeatSeconds").Problem("\"HeartbeatSeconds\" must be less than \"TimeoutSeconds\" (%d), found %d", timeout, heartbeat))
	}
	if c := o.get("Credentials"); c != nil {
		t.Credentials = p.credentials(c)
		if ParseResource(t.Resource).Service == activity {
			p.add(c.Problem("an activity must not have \"Credentials\""))
		}
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
	if !o.has("RoleArn") && !o.has("RoleArn.$") {
		p.add(n.Problem("\"Credentials\" needs the field \"RoleArn\""))
	}
	for _, m := range n.Members {
		if m.Name != "RoleArn" && m.Name != "RoleArn.$" {
			p.warn(n.MemberProblem(m, "\"Credentials\" has one field, \"RoleArn\": remove %q", m.Name).Suggest(m.Name, "RoleArn"))
		}
	}
	return p.template(n)
}

// resource reads the field Resource of a Task.
func (o *object) resource() (string, Position) {
	n, position := o.arn()
	if n == nil {
		return "", position
	}
	if !o.p.placeholder(n, false) && strings.HasPrefix(n.Text, "arn:") {
		o.p.checkIntegration(n, ParseResource(n.Text))
	}
	return n.Text, position
}

// resourceOf reads the field Resource of a reader or a writer, which is one of
// the integrations.
func (o *object) resourceOf(integrations ...string) (string, Position) {
	n, position := o.arn()
	if n == nil {
		return "", position
	}
	r := ParseResource(n.Text)
	if found := r.Service + ":" + r.Action + r.Pattern; !o.p.placeholder(n, false) && strings.HasPrefix(n.Text, "arn:") && !slices.Contains(integrations, found) {
		o.p.add(n.Problem("expected \"arn:aws:states:::%s\", found %s", strings.Join(integrations, "\" or \"arn:aws:states:::"), n.Describe()).
			Suggest(found, integrations...))
	}
	return n.Text, position
}

// arn reads the field Resource, and reports it if it is not an ARN.
func (o *object) arn() (*jsontree.Node, Position) {
	o.require("Resource")
	n := o.ofKind("Resource", jsontree.String)
	if n == nil {
		return nil, Position{}
	}
	if !o.p.placeholder(n, false) && !strings.HasPrefix(n.Text, "arn:") {
		o.p.add(n.Problem("expected the ARN of a resource, found %s", n.Describe()))
	}
	return n, o.p.position(n.Pointer(), n.Offset)
}

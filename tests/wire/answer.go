package wire

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Answer is what a service sends.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Succeed writes the answer of an operation with an output.
func Succeed(p catalog.Protocol, op *catalog.Operation, output map[string]any) Answer {
	a := Answer{Status: http.StatusOK, Header: http.Header{}}
	if op.Output == nil {
		return a
	}
	rest := p == catalog.RESTJSON || p == catalog.RESTXML
	var payload *catalog.Member
	body := *op.Output // with the members that are in the body
	body.Members = nil
	for _, m := range op.Output.Members {
		switch {
		case !rest || m.In == "":
			m.In = ""
			body.Members = append(body.Members, m)
		case m.In == catalog.InPayload:
			payload = &m
		case output[m.Name] != nil:
			a.bind(p, m, output[m.Name])
		}
	}
	if location := op.Output.Member("LocationConstraint"); location != nil && op.Name == "GetBucketLocation" { // an exception of S3
		payload = location
	}
	if payload == nil {
		a.Body = write(p, op, &body, output)
		return a
	}
	v, has := output[payload.Name]
	switch t := payload.Shape.Type; {
	case !has:
	case t == catalog.Blob:
		a.Body, _ = base64.StdEncoding.DecodeString(v.(string))
	case t == catalog.String && payload.In == catalog.InPayload:
		a.Body = []byte(v.(string))
	case p == catalog.RESTXML:
		x := &xmlWriter{protocol: p}
		x.element(payload.WireName(), *payload, v)
		a.Body = []byte(x.b.String())
	default:
		text, err := json.Marshal(jsonValue(p, *payload, v))
		if err != nil {
			panic(err) // it was JSON
		}
		a.Body = text
	}
	return a
}

// bind writes a member into the header.
func (a *Answer) bind(p catalog.Protocol, m catalog.Member, v any) {
	switch m.In {
	case catalog.InHeaders:
		for name, text := range v.(map[string]any) {
			a.Header.Set(m.Wire+name, fmt.Sprint(text))
		}
	case catalog.InHeader:
		if list, ok := v.([]any); ok {
			var all []string
			for _, item := range list {
				text := plainText(p, catalog.Member{Shape: m.Shape.Element.Shape, Format: m.Shape.Element.Format, In: m.In}, item)
				all = append(all, text)
			}
			a.Header.Set(m.WireName(), strings.Join(all, ", "))
			return
		}
		a.Header.Set(m.WireName(), plainText(p, m, v))
	default:
	}
}

// write writes a body.
func write(p catalog.Protocol, op *catalog.Operation, body *catalog.Shape, output map[string]any) []byte {
	whole := catalog.Member{Shape: body}
	if p == catalog.CBOR {
		return cborValue(nil, whole, output)
	}
	if p == catalog.AWSJSON || p == catalog.RESTJSON {
		text, err := json.Marshal(jsonValue(p, whole, output))
		if err != nil {
			panic(err) // it was JSON
		}
		return text
	}
	x := &xmlWriter{protocol: p}
	x.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	switch p {
	case catalog.AWSQuery:
		x.raw("<" + op.Name + `Response xmlns="https://example.com/doc/">` + "\n  ")
		x.element(op.Name+"Result", whole, output)
		x.raw("\n  <ResponseMetadata><RequestId>7a62c49f</RequestId></ResponseMetadata></" + op.Name + "Response>")
	case catalog.EC2Query:
		x.raw("<" + op.Name + `Response xmlns="http://ec2.amazonaws.com/doc/"><requestId>7a62c49f</requestId>`)
		x.members(whole, output)
		x.raw("</" + op.Name + "Response>")
	default:
		x.element(op.OutputShape, whole, output)
	}
	return []byte(x.b.String())
}

// plainText is a simple value as text.
func plainText(p catalog.Protocol, m catalog.Member, v any) string {
	if m.Shape.Type != catalog.Timestamp {
		return fmt.Sprint(v)
	}
	at, err := time.Parse(time.RFC3339Nano, v.(string))
	if err != nil {
		panic(err) // the generator made it
	}
	switch TimeFormat(p, m) {
	case "rfc822":
		return at.Format(http.TimeFormat)
	case "unixTimestamp":
		return strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', -1, 64)
	default:
		return v.(string)
	}
}

// jsonValue is a value as JSON has it on the wire.
func jsonValue(p catalog.Protocol, m catalog.Member, v any) any {
	switch v := v.(type) {
	case map[string]any:
		object := map[string]any{}
		for name, item := range v {
			switch m.Shape.Type {
			case catalog.Structure, catalog.Union:
				if in := memberOf(m.Shape, name); in != nil {
					object[jsonName(p, in)] = jsonValue(p, *in, item)
				}
			case catalog.Map:
				object[name] = jsonValue(p, *m.Shape.Element, item)
			default:
				object[name] = item
			}
		}
		return object
	case []any:
		if m.Shape.Type != catalog.List {
			return v
		}
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = jsonValue(p, *m.Shape.Element, item)
		}
		return list
	case string:
		if m.Shape.Type == catalog.Timestamp && TimeFormat(p, m) == "unixTimestamp" {
			return json.Number(plainText(p, m, v))
		}
		if m.Shape.Type == catalog.Timestamp {
			return plainText(p, m, v)
		}
		return v
	default:
		return v
	}
}

// jsonName is what JSON calls a member: awsJson knows no names but the model's.
func jsonName(p catalog.Protocol, m *catalog.Member) string {
	if p == catalog.AWSJSON {
		return m.Name
	}
	return m.WireName()
}

// memberOf is a member of a shape whose members may be a part of the model's.
func memberOf(s *catalog.Shape, name string) *catalog.Member {
	i := slices.IndexFunc(s.Members, func(m catalog.Member) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Members[i]
}

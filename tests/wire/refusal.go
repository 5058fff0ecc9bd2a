package wire

import (
	"encoding/json"
	"net/http"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Refuse writes the answer of a service that refuses a call with an error: by the
// code that is sent, its message and a status.
func Refuse(p catalog.Protocol, op *catalog.Operation, code, message string, status int) Answer {
	a := Answer{Status: status, Header: http.Header{}}
	if op.Method == http.MethodHead {
		return a
	}
	if p == catalog.AWSJSON || p == catalog.RESTJSON {
		text, err := json.Marshal(map[string]string{"__type": "com.example#" + code, "message": message})
		if err != nil {
			panic(err) // texts have JSON
		}
		a.Body = text
		return a
	}
	if p == catalog.CBOR {
		a.Header.Set("Smithy-Protocol", "rpc-v2-cbor")
		a.Body = cborText(cborText(cborText(cborText(head(nil, 5, 2), "__type"), "com.example#"+code), "message"), message)
		return a
	}
	x := &xmlWriter{}
	x.raw(`<?xml version="1.0" encoding="UTF-8"?>`)
	said := func() {
		x.tag("Code", "", func() { x.text(code) })
		x.tag("Message", "", func() { x.text(message) })
	}
	id := func(name string) { x.tag(name, "", func() { x.text("7a62c49f") }) }
	switch {
	case p == catalog.EC2Query:
		x.tag("Response", "", func() {
			x.tag("Errors", "", func() { x.tag("Error", "", said) })
			id("RequestID")
		})
	case op.Service.Key == "s3":
		x.tag("Error", "", func() {
			said()
			id("RequestId")
		})
	default:
		x.tag("ErrorResponse", ` xmlns="https://example.com/doc/"`, func() {
			x.tag("Error", "", func() {
				x.tag("Type", "", func() { x.text("Sender") })
				said()
			})
			id("RequestId")
		})
	}
	a.Body = []byte(x.b.String())
	return a
}

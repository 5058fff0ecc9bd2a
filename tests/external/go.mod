module github.com/jobpoller/jobpoller/tests/external

go 1.26.0

require (
	github.com/jobpoller/jobpoller v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/recolabs/gnata v0.2.2 // indirect
	github.com/tidwall/gjson v1.18.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/jobpoller/jobpoller => ../..

module github.com/jobpoller/jobpoller/tests/external

go 1.26.0

require (
	github.com/jobpoller/jobpoller v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/aws/smithy-go v1.28.8 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/jobpoller/jobpoller => ../..

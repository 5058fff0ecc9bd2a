package models_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

func ExampleLoad() {
	lambda, err := models.Load("lambda")
	if err != nil {
		panic(err)
	}
	for _, m := range lambda.Operations["GetFunction"].Input.Members {
		fmt.Println(m.Name, m.Shape.Type, m.Required)
	}
	_, err = models.Load("lamda")
	fmt.Println(err)
	// Output:
	// FunctionName string true
	// Qualifier string false
	// the catalogue has no service "lamda" (did you mean "lambda"?)
}

func ExampleOperation() {
	get, err := models.Operation("cognito-idp", "DescribeUserPool")
	if err != nil {
		panic(err)
	}
	fmt.Println(get.Service.ARNName, get.Actions)
	// Output:
	// cognitoidentityprovider [cognito-idp:DescribeUserPool]
}

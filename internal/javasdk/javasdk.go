// Package javasdk gives the class names of the AWS SDK for Java 2, after which
// Step Functions names the services and the errors of its SDK integrations.
//
// The rules are those of the SDK's code generator (its classes
// DefaultNamingStrategy and CodegenNamingUtils). The names that Step Functions
// was seen to give errors are in the tests.
package javasdk

import (
	"regexp"
	"strings"
	"unicode"
)

// ServiceName is what the classes of a service start with, by its sdkId:
// "DynamoDb" for "DynamoDB".
func ServiceName(sdkID string) string {
	name := pascal(sdkID)
	for _, prefix := range []string{"Amazon", "Aws"} {
		if rest := strings.TrimPrefix(name, prefix); rest != "" {
			name = rest
		}
	}
	if rest := strings.TrimSuffix(name, "Service"); rest != "" {
		name = rest
	}
	return name
}

// ServiceException is the class of the errors of a service that its model does
// not declare, and the base of all others: "DynamoDbException".
func ServiceException(sdkID string) string { return ServiceName(sdkID) + "Exception" }

// ExceptionName is the class of an error, by the sdkId of its service and the
// name of its shape: "DbInstanceNotFoundException" for "DBInstanceNotFoundFault".
func ExceptionName(sdkID, shape string) string {
	if other, ok := renamed[sdkID][shape]; ok {
		shape = other
	}
	var name string
	if rest, ok := strings.CutSuffix(shape, "Fault"); ok {
		name = pascal(rest) + "Exception"
	} else if name = pascal(shape); !strings.HasSuffix(shape, "Exception") {
		name += "Exception"
	}
	if name == ServiceException(sdkID) {
		name = "Default" + name
	}
	return name
}

// renamed are the shapes of errors that the SDK for Java has under other names,
// by the sdkIds of services.
var renamed = map[string]map[string]string{
	// Source: aws/aws-sdk-java-v2, services/elasticloadbalancing/src/main/resources/
	// codegen-resources/customization.config, renameShapes.
	"Elastic Load Balancing": {
		"AccessPointNotFoundException":      "LoadBalancerNotFoundException",
		"DuplicateAccessPointNameException": "DuplicateLoadBalancerNameException",
		"TooManyAccessPointsException":      "TooManyLoadBalancersException",
		"InvalidEndPointException":          "InvalidInstanceException",
	},
	// Source: iwamot/sfnx, src/sfnx/integrations.py, JAVA_RENAMED_ERRORS.
	"Marketplace Commerce Analytics": {
		"MarketplaceCommerceAnalyticsException": "MarketplaceCommerceAnalyticsServiceException",
	},
}

// pascal writes each word of a name with one capital.
func pascal(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		b.WriteString(strings.ToUpper(word[:1]) + strings.ToLower(word[1:]))
	}
	return b.String()
}

var (
	other     = regexp.MustCompile(`[^A-Za-z0-9]+`)
	version   = regexp.MustCompile(`([^a-z]{2,})v([0-9]+)`) // SESv2: SES v2
	versionUp = regexp.MustCompile(`([^A-Z]{2,})V([0-9]+)`) // MailV2: Mail V2
	acronym   = regexp.MustCompile(`([A-Z]+)([A-Z][a-z])`)  // UIBuilder: UI Builder
	number    = regexp.MustCompile(`([0-9])([A-Za-z])`)     // S3Tables: S3 Tables
)

// words splits a name into its words.
func words(name string) []string {
	name = other.ReplaceAllString(name, " ")
	name = version.ReplaceAllString(name, "$1 v$2 ")
	name = versionUp.ReplaceAllString(name, "$1 V$2 ")
	name = humps(name)
	name = acronym.ReplaceAllString(name, "$1 $2")
	name = number.ReplaceAllString(name, "$1 $2")
	return strings.Fields(name)
}

// humps parts words where a capital that is not the last character follows a
// small letter: AppMesh is App Mesh, and IdX stays one word.
func humps(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := rune(name[i])
		if i > 0 && i+1 < len(name) && unicode.IsUpper(c) && unicode.IsLower(rune(name[i-1])) && name[i+1] != ' ' {
			b.WriteByte(' ')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

package server

import (
	"slices"
	"strings"
)

// loggingConfiguration says which events an execution logs, and where.
type loggingConfiguration struct {
	Level                string           `json:"level"`
	IncludeExecutionData bool             `json:"includeExecutionData"`
	Destinations         []logDestination `json:"destinations,omitzero"`
}

type logDestination struct {
	CloudWatchLogsLogGroup *logGroup `json:"cloudWatchLogsLogGroup,omitempty"`
}

type logGroup struct {
	LogGroupARN string `json:"logGroupArn,omitempty"`
}

func (l loggingConfiguration) equal(o loggingConfiguration) bool {
	sameGroup := func(a, b logDestination) bool { return a.arn() == b.arn() }
	return l.Level == o.Level && l.IncludeExecutionData == o.IncludeExecutionData && slices.EqualFunc(l.Destinations, o.Destinations, sameGroup)
}

func (d logDestination) arn() string {
	if d.CloudWatchLogsLogGroup == nil {
		return ""
	}
	return d.CloudWatchLogsLogGroup.LogGroupARN
}

// check refuses what AWS refuses. Whether a log group exists is not known here.
func (l loggingConfiguration) check() error {
	if len(l.Destinations) > 1 || l.Level != logOff && len(l.Destinations) == 0 {
		return refuse("InvalidLoggingConfiguration", "Invalid Logging Configuration: Must specify exactly one Log Destination.")
	}
	for _, d := range l.Destinations {
		if !strings.HasPrefix(d.arn(), "arn:") || !strings.HasSuffix(d.arn(), ":*") {
			return refuse("InvalidLoggingConfiguration", "Invalid Logging Configuration: Log Destination not found.")
		}
	}
	return nil
}

const logOff = "OFF"

type tracingConfiguration struct {
	Enabled bool `json:"enabled"`
}

type encryptionConfiguration struct {
	Type                         string `json:"type"`
	KMSKeyID                     string `json:"kmsKeyId,omitempty"`
	KMSDataKeyReusePeriodSeconds int    `json:"kmsDataKeyReusePeriodSeconds,omitempty"`
}

const (
	awsOwnedKey   = "AWS_OWNED_KEY"
	ownKeySeconds = 300 // how long a data key is used again where the request does not say
)

// readEncryption returns the configuration with its defaults.
func readEncryption(given *encryptionConfiguration) (encryptionConfiguration, error) {
	if given == nil {
		return encryptionConfiguration{Type: awsOwnedKey}, nil
	}
	e := *given
	switch {
	case e.Type == awsOwnedKey && (e.KMSKeyID != "" || e.KMSDataKeyReusePeriodSeconds != 0):
		return e, refuseEncryption("kmsKeyId and kmsDataKeyReusePeriodSeconds need the type CUSTOMER_MANAGED_KMS_KEY")
	case e.Type != awsOwnedKey && e.KMSKeyID == "":
		return e, refuseEncryption("the type CUSTOMER_MANAGED_KMS_KEY needs a kmsKeyId")
	case e.Type != awsOwnedKey && e.KMSDataKeyReusePeriodSeconds == 0:
		e.KMSDataKeyReusePeriodSeconds = ownKeySeconds
	}
	return e, nil
}

func refuseEncryption(what string) error {
	return refuse("InvalidEncryptionConfiguration", "Invalid Encryption Configuration: %s", what)
}

// configure sets what a request gives, and the defaults of a new revision.
func (v *revision) configure(logging *loggingConfiguration, tracing *tracingConfiguration, encryption *encryptionConfiguration) error {
	if logging != nil {
		v.logging = *logging
	}
	if v.logging.Level == "" {
		v.logging.Level = logOff
	}
	if err := v.logging.check(); err != nil {
		return err
	}
	if tracing != nil {
		v.tracing = *tracing
	}
	if encryption != nil || v.encryption.Type == "" {
		var err error
		if v.encryption, err = readEncryption(encryption); err != nil {
			return err
		}
	}
	return nil
}

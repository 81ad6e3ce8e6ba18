package policy

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const policies = "mutatingadmissionpolicies"

// Check asks a cluster whether the policies for these options can be applied to it by
// whoever config stands for, and writes one line if so. Otherwise its error is the
// reason: the cluster can't be reached, is too old, or does not let one.
func Check(ctx context.Context, w io.Writer, config *rest.Config, o Options) error {
	if _, err := o.documents(); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("the cluster at %s can't be asked: %w", config.Host, err)
	}
	served, err := client.Discovery().ServerResourcesForGroupVersion(admissionregistrationv1.SchemeGroupVersion.String())
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("the cluster at %s can't be asked for its APIs: %w", config.Host, err)
	}
	if err != nil || !slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == policies }) {
		return fmt.Errorf("the cluster at %s (Kubernetes %s) is too old: the policies need %s or later; stamp with the post-renderer there",
			config.Host, version.GitVersion, MinimumVersion)
	}
	denied, err := deniedRights(ctx, client, o)
	if err != nil {
		return fmt.Errorf("the cluster at %s can't be asked for your rights: %w", config.Host, err)
	}
	if len(denied) > 0 {
		return fmt.Errorf("the cluster at %s does not let you %s, which applying the policies takes: ask an administrator of it",
			config.Host, strings.Join(denied, ", "))
	}
	_, err = fmt.Fprintf(w, "the policies can be applied to the cluster at %s (Kubernetes %s)\n", config.Host, version.GitVersion)
	return err
}

// deniedRights returns what applying the policies takes and the user may not do. Who
// binds a policy must be allowed to read its parameters, in all namespaces.
func deniedRights(ctx context.Context, client kubernetes.Interface, o Options) ([]string, error) {
	const group = admissionregistrationv1.GroupName
	rights := []authorizationv1.ResourceAttributes{
		{Verb: "create", Group: group, Resource: policies},
		{Verb: "create", Group: group, Resource: "mutatingadmissionpolicybindings"},
		{Verb: "get", Resource: "configmaps"},
	}
	if !o.NoSecrets {
		rights = append(rights, authorizationv1.ResourceAttributes{Verb: "get", Resource: "secrets"})
	}
	var denied []string
	for _, r := range rights {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &r}}
		answer, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		if !answer.Status.Allowed {
			denied = append(denied, r.Verb+" "+r.Resource)
		}
	}
	return denied, nil
}

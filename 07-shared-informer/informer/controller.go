package informer

import (
	"context"

	"k8s.io/client-go/tools/cache"
)

// GetController returns a controller that answers questions, and whose Run does nothing. The owner
// of a shared informer decides when it runs, and not one of its users.
func (i *Informer) GetController() cache.Controller { return dummyController{i} }

type dummyController struct{ *Informer }

// Run does nothing: the owner of the informer runs it.
func (dummyController) Run(<-chan struct{}) {}

// RunWithContext does nothing either.
func (dummyController) RunWithContext(context.Context) {}

module example.com/informer/scripts/controlplane

go 1.26.0

require k8s.io/kubernetes v1.99.0

replace k8s.io/kubernetes => ./none

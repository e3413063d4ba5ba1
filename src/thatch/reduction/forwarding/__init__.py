"""The filters that one outgoing link of a broker forwards, kept up with subscriptions that come and go.

```
ForwardingSet                 ids and filters in, what to forward and withdraw out
└── LinkRows                  which rows are active (forwarded) or passive (covered), and why; may merge rows
    ├── Judge                 whether the boxes of active rows cover a box
    └── LinkFilters           the filter of each row, and its boxes under the labels of the moment
        └── Coordinates       labels; tells the judge when they change
```

References only point downwards. The policy, a value, decides which rows and which judge are made:

```
Flooding                                    LinkRows       everything is active
Pairwise, Diagrams, Exact, Probabilistic    CoveringRows   with a judge of that kind
Merging                                     MergingRows    CoveringRows that also merge active rows
NegativeSpace, ApproximateNegativeSpace     SpaceRows      the space is the judge
```
"""

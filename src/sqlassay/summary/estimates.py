"""From per-case columns to estimates: the whole run and every slice by the same rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlassay.summary.intervals import (
    REPLICATES,
    percentile_interval,
    resampled_means,
    seed_of,
    wilson,
)
from sqlassay.summary.model import Estimate, Spread
from sqlassay.summary.table import CaseTable, reason_at

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Estimator:
    """Holds the case table as arrays, in the order of case ids, so that no number depends on the order of lines."""

    def __init__(self, table: CaseTable, *, clusters_of: Mapping[str, int], seed: int) -> None:
        import numpy as np

        self.order = sorted(range(len(table.ids)), key=lambda position: table.ids[position])
        self.ids = tuple(table.ids[position] for position in self.order)
        self.names = tuple(sorted(table.columns))
        self.seed = seed
        columns = [table.columns[name] for name in self.names]
        shape = (len(self.names), len(self.ids))
        order = np.array(self.order, dtype=np.int64)

        def stacked(arrays: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
            if not arrays:
                return np.zeros(shape).T
            return np.stack([a[: len(self.ids)] for a in arrays])[:, order].T.astype(np.float64)

        self.sums = stacked([np.frombuffer(c.sums, dtype=np.float64) for c in columns])
        self.counts = stacked([np.frombuffer(c.counts, dtype=f"i{c.counts.itemsize}") for c in columns])
        self.lacking = stacked([np.frombuffer(c.lacking, dtype=f"i{c.lacking.itemsize}") for c in columns])
        self.reasons = stacked([np.frombuffer(c.reasons, dtype=np.int8) for c in columns]).astype(np.int8)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.values = np.where(self.counts > 0, self.sums / self.counts, np.nan)
        self.units = [c.unit for c in columns]
        self.clusters = np.array([clusters_of[case_id] for case_id in self.ids], dtype=np.int64)

    def estimate(self, rows: NDArray[np.int64] | None = None, *, step: tuple[str, ...] = ()) -> dict[str, Estimate]:
        """Estimates of every metric over the cases at `rows` (all when None); `step` names the random step."""
        import numpy as np

        if rows is None:
            rows = np.arange(len(self.ids), dtype=np.int64)
        if len(rows) == 0 or not self.names:
            return {}
        values = self.values[rows]
        counts, lacking, reasons = self.counts[rows], self.lacking[rows], self.reasons[rows]
        defined = ~np.isnan(values)
        filled = np.where(defined, values, 0.0)
        _, cluster = np.unique(self.clusters[rows], return_inverse=True)
        groups = int(cluster.max()) + 1
        sums, sizes = np.zeros((groups, len(self.names))), np.zeros((groups, len(self.names)))
        np.add.at(sums, cluster, filled)
        np.add.at(sizes, cluster, defined.astype(np.float64))
        n = defined.sum(axis=0)
        single: NDArray[np.bool_] = np.all(sizes <= 1, axis=0)
        binary: NDArray[np.bool_] = np.all(~defined | (values == 0) | (values == 1), axis=0)
        means_of = self._bootstrap(sums, sizes, n=n, single=single, binary=binary, step=step)
        result: dict[str, Estimate] = {}
        with np.errstate(invalid="ignore", divide="ignore"):
            worst = np.where(counts + lacking > 0, self.sums[rows] / (counts + lacking), np.nan)
            best = np.where(counts + lacking > 0, (self.sums[rows] + lacking) / (counts + lacking), np.nan)
        for index, name in enumerate(self.names):
            column = np.sort(values[defined[:, index], index])
            size = int(n[index])
            share = self.units[index] == "share"
            unscored = int((lacking[:, index] > 0).sum())
            mean = float(column.sum() / size) if size else None
            interval, method = self._interval(
                column, sizes[:, index], share=share, wilsonian=bool(single[index] and binary[index]),
                resampled=means_of.get(index),
            )  # fmt: skip
            # Of a case that has a value the reason counts for nothing; -1, no reason, is dropped with it.
            tallies = np.bincount(np.where(defined[:, index], -1, reasons[:, index]) + 1)[1:].tolist()
            result[name] = Estimate(
                mean=mean,
                n=size,
                attempted=len(rows),
                interval=interval,
                method=method,
                undefined={reason_at(place): count for place, count in enumerate(tallies) if count},
                unit=self.units[index],
                bounds=self._bounds(worst[:, index], best[:, index], mean, share=share, unscored=unscored),
                unscored=unscored,
                low=float(column[0]) if size else None,
                high=float(column[-1]) if size else None,
            )
        return result

    def _bootstrap(
        self,
        sums: NDArray[np.float64],
        sizes: NDArray[np.float64],
        *,
        n: NDArray[np.int64],
        single: NDArray[np.bool_],
        binary: NDArray[np.bool_],
        step: tuple[str, ...],
    ) -> dict[int, tuple[float, float] | None]:
        wanted = [
            index
            for index in range(len(self.names))
            if n[index] > 1
            and not (single[index] and binary[index] and self.units[index] == "share")
            and (sizes[:, index] > 0).sum() > 1
        ]
        if not wanted:
            return {}
        means = resampled_means(
            sums[:, wanted], sizes[:, wanted], seed=seed_of(self.seed, *step), replicates=REPLICATES
        )
        return dict(zip(wanted, percentile_interval(means), strict=True))

    @staticmethod
    def _interval(
        column: NDArray[np.float64],
        sizes: NDArray[np.float64],
        *,
        share: bool,
        wilsonian: bool,
        resampled: tuple[float, float] | None,
    ) -> tuple[tuple[float, float] | None, str | None]:
        size = len(column)
        if size == 0:
            return None, None
        if share and wilsonian:
            return wilson(float(column.sum()), size), "wilson"
        if share and column[0] == column[-1] and column[0] in (0.0, 1.0):
            groups = int((sizes > 0).sum())
            return wilson(groups if column[0] == 1.0 else 0, groups), "wilson_clusters"
        return (resampled, "bootstrap") if resampled is not None else (None, None)

    @staticmethod
    def _bounds(
        worst: NDArray[np.float64], best: NDArray[np.float64], mean: float | None, *, share: bool, unscored: int
    ) -> tuple[float, float] | None:
        import numpy as np

        if not unscored:
            return None if mean is None else (mean, mean)
        if not share:
            return None
        low, high = worst[~np.isnan(worst)], best[~np.isnan(best)]
        return float(np.sort(low).sum() / len(low)), float(np.sort(high).sum() / len(high))

    def spreads(self, *, bins: int = 20) -> dict[str, Spread]:
        """The distribution over cases of every metric that is a quantity and not a share."""
        import numpy as np

        found: dict[str, Spread] = {}
        for index, name in enumerate(self.names):
            column = self.values[:, index]
            column = np.sort(column[~np.isnan(column)])
            if self.units[index] == "share" or len(column) == 0:
                continue
            low, high = float(column[0]), float(column[-1])
            p50, p90, p95 = (float(v) for v in np.percentile(column, [50, 90, 95]))
            counts, _ = np.histogram(column, bins=bins if high > low else 1)
            found[name] = Spread(
                unit=self.units[index],
                n=len(column),
                total=float(column.sum()),
                low=low,
                p50=p50,
                p90=p90,
                p95=p95,
                high=high,
                histogram=tuple(int(c) for c in counts),
            )
        return found

    def per_case(self) -> dict[str, dict[str, float]]:
        """Metric, then case id, to the case's value; undefined cases are left out."""
        import numpy as np

        found: dict[str, dict[str, float]] = {}
        for index, name in enumerate(self.names):
            column = self.values[:, index]
            rows = np.flatnonzero(~np.isnan(column))
            found[name] = {
                self.ids[row]: value for row, value in zip(rows.tolist(), column[rows].tolist(), strict=True)
            }
        return found

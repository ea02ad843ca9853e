/** Counts of requests in the Prometheus text format. Labels are routes and statuses, never ids. */

/** Upper bounds of the duration histogram, in seconds. */
const BOUNDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60];

export interface RequestCounter {
  done(route: string, status: number, seconds: number): void;
  lines(): string[];
}

export function createRequestCounter(): RequestCounter {
  const counts = new Map<string, number>();
  const buckets = BOUNDS.map(() => 0);
  let total = 0;
  let seconds = 0;
  return {
    done(route, status, took) {
      const labels = `route="${route}",status="${status}"`;
      counts.set(labels, (counts.get(labels) ?? 0) + 1);
      for (const [index, bound] of BOUNDS.entries()) if (took <= bound) buckets[index] = (buckets[index] ?? 0) + 1;
      total += 1;
      seconds += took;
    },
    lines: () => [
      '# TYPE jev_host_requests_total counter',
      ...[...counts].map(([labels, count]) => `jev_host_requests_total{${labels}} ${count}`),
      '# TYPE jev_host_request_seconds histogram',
      ...BOUNDS.map((bound, index) => `jev_host_request_seconds_bucket{le="${bound}"} ${buckets[index]}`),
      `jev_host_request_seconds_bucket{le="+Inf"} ${total}`,
      `jev_host_request_seconds_sum ${seconds}`,
      `jev_host_request_seconds_count ${total}`,
    ],
  };
}

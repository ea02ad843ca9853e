/** What the rooms count, in the Prometheus text format. Labels are codes and plugin ids, never a caller's. */
import type { DependencyContainer } from 'tsyringe';
import { JEV, PLUGINS } from '../tokens.ts';

export function metricsOf(from: DependencyContainer): string[] {
  return [...evaluations(from), ...plugins(from)];
}

function evaluations(from: DependencyContainer): string[] {
  const { active, waiting, completed, failed, refused } = from.resolve(JEV).stats();
  return [
    '# TYPE jev_host_evaluations_active gauge',
    `jev_host_evaluations_active ${active}`,
    '# TYPE jev_host_evaluations_waiting gauge',
    `jev_host_evaluations_waiting ${waiting}`,
    '# TYPE jev_host_evaluations_total counter',
    `jev_host_evaluations_total{outcome="completed"} ${completed}`,
    ...Object.entries(failed).map(([code, count]) => `jev_host_evaluations_total{outcome="${code}"} ${count}`),
    '# TYPE jev_host_answers_refused_total counter',
    ...Object.entries(refused).map(([reason, count]) => `jev_host_answers_refused_total{reason="${reason}"} ${count}`),
  ];
}

const PLUGIN_COUNTS = ['runs', 'calls', 'crashes', 'memoryBytes'] as const;

function plugins(from: DependencyContainer): string[] {
  const states = from.resolve(PLUGINS).list();
  return PLUGIN_COUNTS.flatMap((count) => {
    const name = `jev_host_plugin_${count === 'memoryBytes' ? 'memory_bytes' : count}`;
    return [
      `# TYPE ${name} ${count === 'memoryBytes' ? 'gauge' : 'counter'}`,
      ...states.map((state) => `${name}{plugin="${state.id}"} ${state[count]}`),
    ];
  });
}

/** The house's rule: which room may import which (docs/architecture.md). Anything not allowed here is an error. */
const rooms = {
  'core/store': ['sdk/contract'],
  'sdk/contract': [],
  'sdk/commands': [],
  'sdk/programs': ['sdk/contract'],
  'core/credentials': ['sdk/contract'],
  'core/authorization': ['sdk/contract'],
  'core/receipts': ['core/store', 'sdk/contract'],
  'core/jev': ['core/credentials', 'core/authorization', 'core/receipts', 'core/store', 'sdk/contract'],
  'sdk/devices': ['sdk/contract'],
  'sdk/plugin': ['sdk/contract'],
  'sdk/testing': ['sdk', 'host/plugins'],
  'sdk/index.ts': ['sdk/(?!testing)'],
  plugins: ['sdk/(?!testing)'],
  // The one config file is composed of the rooms' own section schemas.
  'host/config': ['core', 'sdk', 'host/(devices/)?[^/]+/config\\.ts$'],
  'host/plugins': ['core', 'sdk'],
  'host/tasks': ['core', 'sdk'],
  'host/connectors': ['core', 'sdk'],
  'host/drill': ['host/tasks', 'host/connectors', 'core', 'sdk'],
  'host/api': ['host/tasks', 'core', 'sdk'],
  'host/devices': ['sdk/contract', 'sdk/devices', 'core/authorization', 'core/credentials', 'core/store'],
  'host/programs': ['host/plugins', 'core', 'sdk'],
  'host/evaluator': ['sdk/contract'],
};

const isTest = '(\\.test\\.ts$)|(^test/)|(^plugins/[^/]+/testing/)';

export default {
  forbidden: [
    ...Object.entries(rooms).map(([room, allowed]) => ({
      name: `room-${room.replaceAll('/', '-').replace('.ts', '')}`,
      comment: `${room} may import ${allowed.length ? allowed.join(', ') : 'nothing of ours'}`,
      severity: 'error',
      from: { path: `^${room}${room.endsWith('.ts') ? '$' : '/'}`, pathNot: isTest },
      to: {
        path: '^(core|sdk|host|plugins|scripts|test|bench)/',
        pathNot: [`^${room}${room.endsWith('.ts') ? '$' : '/'}`, ...allowed.map((target) => `^${target}`)],
      },
    })),
    {
      name: 'no-cycles',
      severity: 'error',
      from: { pathNot: isTest },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'one-lmdb',
      comment: 'Only core/store calls LMDB',
      severity: 'error',
      from: { pathNot: '^core/store/' },
      to: { path: 'node_modules/lmdb' },
    },
    {
      name: 'plugins-stay-apart',
      comment: 'A plugin imports no other plugin',
      severity: 'error',
      from: { path: '^plugins/([^/]+)/', pathNot: isTest },
      to: { path: '^plugins/', pathNot: '^plugins/$1/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};

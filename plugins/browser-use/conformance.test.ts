import { describe, it } from 'vitest';
import { conformance } from '../../sdk/testing/index.ts';

const checks = conformance({
  plugin: import.meta.dirname,
  pages: {
    shop: { url: 'http://shop.example/', text: 'A jacket', elements: [{ ref: 'buy', label: 'Buy', goto: 'thanks' }] },
    thanks: { url: 'http://shop.example/thanks', text: 'Thank you' },
  },
  goal: 'Buy it',
  answers: {
    operation: (question) =>
      question.type === 'choice' && Object.hasOwn(question.criteria, 'CLICK') ? 'CLICK' : 'DONE',
    click_target: 'buy',
  },
});

describe('the conformance kit, over Browser Use in its worker', () => {
  it.each(checks.map((check) => [check.name, check] as const))('%s', (_name, check) => check.run());
});

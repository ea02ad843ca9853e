/**
 * Fills the fields of a form from the values that the task brings along, and stops before anything is sent.
 *
 * One decision per page: for every empty field, which of the given values belongs there. A field that none fits is asked of
 * the owner when the operator left `askForMissing` on.
 */
import {
  BrowserRunInput,
  defineController,
  isHostError,
  type JevQuestion,
  type LastAction,
  type ObservedElement,
  remoteBrowser,
} from 'jev-host/sdk';
import * as v from 'valibot';
import manifest from './plugin.json' with { type: 'json' };

/** Fields that one decision may place. */
const MAX_FIELDS = 20;
const NONE = 'NONE';

interface Filling {
  element: ObservedElement;
  text: string;
}

export default defineController(manifest, {
  async run(raw, ctx) {
    const input = v.parse(BrowserRunInput, raw);
    const browser = remoteBrowser(ctx.tools, input.scope, { uuid: () => ctx.random.uuid() });
    let evaluations = 0;
    let filled = 0;
    let lastAction: LastAction | undefined;
    const report = (status: 'blocked' | 'cancelled' | 'needs_verification', reason: string) => ({
      contractVersion: 1,
      status,
      reason,
      steps: filled,
      evaluations,
      staleRetries: 0,
      textCalls: 0,
      ...(lastAction ? { lastAction } : {}),
    });

    const lease = await browser.acquire();
    if (!lease.ok) return report('blocked', lease.code);
    try {
      if (input.startUrl !== undefined) {
        const operationId = ctx.random.uuid();
        const opened = await browser.navigate(operationId, { url: input.startUrl });
        lastAction = { operationId, operation: 'NAVIGATE', outcome: opened.outcome };
        if (opened.outcome === 'unknown') return report('needs_verification', 'OUTCOME_UNKNOWN');
        if (opened.outcome === 'not_executed') return report('blocked', opened.code);
      }
      const page = await browser.observe();
      if (!page.ok) return report('blocked', page.code);
      const empty = page.value.elements.filter(isEmptyField).slice(0, MAX_FIELDS);
      const fillings: Filling[] = [];
      if (input.fields.length > 0 && empty.length > 0) {
        evaluations = 1;
        const { answers } = await ctx.jev.evaluate({
          state: { goal: input.goal, values: input.fields.map(({ label }) => label) },
          questions: Object.fromEntries(
            empty.map((element, at) => [`field_${at + 1}`, question(element, input.fields)]),
          ),
        });
        for (const [at, element] of empty.entries()) {
          const answer = answers[`field_${at + 1}`];
          const chosen =
            answer?.type === 'choice' && answer.choice !== NONE ? input.fields[Number(answer.choice) - 1] : undefined;
          const text = chosen?.text ?? (await missing(element));
          if (text !== undefined) fillings.push({ element, text });
        }
      }

      let { generation } = page.value;
      for (const { element, text } of fillings) {
        // A cancelled run does nothing more to the page; it still gives the tab back.
        if (ctx.signal.aborted) return report('cancelled', 'CANCELLED');
        const operationId = ctx.random.uuid();
        const option = element.options?.find(({ label }) => label === text);
        if (element.options && !option) continue;
        const done = option
          ? await browser.select(operationId, { ref: element.ref, generation, optionRef: option.ref })
          : await browser.type(operationId, { ref: element.ref, generation, text });
        lastAction = { operationId, operation: option ? 'SELECT' : 'TYPE_TEXT', outcome: done.outcome };
        if (done.outcome === 'unknown') return report('needs_verification', 'OUTCOME_UNKNOWN');
        if (done.outcome === 'not_executed') return report('blocked', done.code);
        filled += 1;
        ctx.log.info(`filled ${filled} of ${fillings.length}`);
        if (done.observation) generation = done.observation.generation;
        else {
          const again = await browser.observe();
          if (!again.ok) return report('blocked', again.code);
          generation = again.value.generation;
        }
      }
      return filled > 0 ? report('needs_verification', 'COMPLETION_CANDIDATE') : report('blocked', 'NOTHING_TO_FILL');
    } finally {
      await browser.release();
    }

    async function missing(element: ObservedElement): Promise<string | undefined> {
      if (!ctx.run.features.askForMissing || ctx.signal.aborted) return undefined;
      try {
        return await ctx.task.ask({ text: `What belongs into "${element.label}"?`, fieldLabel: element.label });
      } catch (error) {
        // Not every task has an owner who can be asked; the field then stays empty.
        if (isHostError(error, 'CAPABILITY_DENIED')) return undefined;
        throw error;
      }
    }
  },
});

function isEmptyField({ operations, value, selected, disabled, sensitive }: ObservedElement): boolean {
  const fillable = operations.includes('TYPE_TEXT') || operations.includes('SELECT');
  return fillable && !value && !selected && !disabled && !sensitive;
}

function question(element: ObservedElement, fields: BrowserRunInput['fields']): JevQuestion {
  return {
    type: 'choice',
    instructions: `Which value belongs into the field "${element.label}"?`,
    criteria: Object.fromEntries([...fields.map(({ label }, at) => [String(at + 1), label]), [NONE, 'None of them']]),
  };
}

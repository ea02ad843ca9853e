/** `jev_evaluate`: one evaluation for an agent. Model, provider and key are the host's. */
import * as v from 'valibot';
import type { JevService } from '../../../core/jev/service.ts';
import { HostError } from '../../../sdk/contract/errors.ts';
import type { JevRequest } from '../../../sdk/contract/jev.ts';
import { stillMay } from '../access.ts';
import type { Access } from '../ports.ts';
import { defineTool, hints, type Tool } from './tool.ts';

const content = v.union([v.string(), v.array(v.unknown()), v.record(v.string(), v.unknown())]);

const JevInput = v.strictObject({
  state: v.pipe(content, v.description('What is known: text, a JSON object or a JSON list.')),
  questions: v.pipe(
    v.record(v.string(), v.record(v.string(), v.unknown())),
    v.description(
      'Typed questions by id: { type: "noul" | "choice" | "score" | "box", instructions, criteria? }. A choice has 1 to 255 options, a score 2 to 10 levels.',
    ),
  ),
  assets: v.optional(
    v.pipe(
      v.record(v.string(), v.record(v.string(), v.unknown())),
      v.description('Images by reference: { type: "image", format: "png" | "jpeg", data_base64 }.'),
    ),
  ),
});

const JevOutput = v.object({
  requestId: v.string(),
  requestedModel: v.string(),
  model: v.string(),
  answers: v.record(v.string(), v.looseObject({ type: v.string() })),
  usage: v.looseObject({ input_tokens: v.number(), output_tokens: v.number() }),
  billing: v.optional(v.looseObject({ charged_credits: v.number() })),
});

export function jevTool(jev: JevService, access: Access): Tool {
  return defineTool({
    name: 'jev_evaluate',
    title: 'Evaluate with Jev',
    description:
      'Asks typed questions about a bounded state and returns probabilities. It decides nothing by itself, writes no text and proves no action. Each call is paid for and is never repeated by the host.',
    input: JevInput,
    output: JevOutput,
    annotations: hints.evaluates,
    access: 'write',
    async call(args, { caller, signal }) {
      if (!jev.allowed(caller.agentId)) throw new HostError('JEV_ACCESS_DENIED');
      const result = await jev.evaluate(
        args as unknown as JevRequest,
        {
          principalId: caller.principalId,
          agentId: caller.agentId,
          sessionId: caller.sessionId,
          consumer: 'mcp',
        },
        { signal, authorized: () => stillMay(access, caller.principalId, caller.agentId, 'write') },
      );
      return { ...result };
    },
  });
}

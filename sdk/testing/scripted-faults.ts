/** Faults of the scripted devices, and the replies that both give. */
import type { ToolReply } from '../contract/capabilities.ts';

/** Something that goes wrong with the next call of a tool. Each fault strikes once, in the order given. */
export interface ScriptedFault {
  tool: string;
  /** Let this many calls of the tool pass first. */
  after?: number;
  /**
   * - `stale`: refused as `STALE_OBSERVATION`, known not executed.
   * - `lost`: done on the device, but the reply never arrives (the call rejects).
   * - `unknown`: done on the device, and the device says it does not know.
   * - `hang`: never answered, until the caller gives up.
   * - an object: this reply, and nothing is done.
   */
  does: 'stale' | 'lost' | 'unknown' | 'hang' | Record<string, unknown>;
  /** With `stale`, on the browser. */
  cause?: string;
}

/** @returns what strikes the next call of a tool, if anything does. */
export function faultList(given: readonly ScriptedFault[] = []): (tool: string) => ScriptedFault | undefined {
  const faults = given.map((fault) => ({ ...fault, left: fault.after ?? 0 }));
  return (tool) => {
    const fault = faults.find((candidate) => candidate.tool === tool);
    if (!fault) return undefined;
    if (fault.left > 0) {
      fault.left -= 1;
      return undefined;
    }
    faults.splice(faults.indexOf(fault), 1);
    return fault;
  };
}

export const toolReply = (body: Record<string, unknown>, isError = false): ToolReply => ({
  content: [{ type: 'text', text: JSON.stringify(body) }],
  ...(isError ? { isError } : {}),
});

/** Base64 of a PNG of one pixel. */
export const ONE_PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

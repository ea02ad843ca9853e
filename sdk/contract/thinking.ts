/**
 * What a controller may ask of Thinking (`ctx.thinking.assist`), and what comes back.
 *
 * The host serves these through the Thinking plugin or an operator's own helper. A failure of the provider is an error
 * with its code, never an answer: text is never made up here, and `null` means that the value is not known.
 */
import * as v from 'valibot';

/** Bytes of JSON that one request may take (wire-contracts 3.9). */
export const MAX_THINKING_INPUT_BYTES = 65_536;
/** Characters of one field value. */
export const MAX_FIELD_TEXT = 2000;
/** Characters of page text that a request for field text may carry. */
export const MAX_THINKING_PAGE_TEXT = 6000;

const text = (max: number) => v.pipe(v.string(), v.maxLength(max));

export const ThinkingField = v.strictObject({
  label: text(250),
  role: v.optional(text(64)),
  type: v.optional(text(32)),
  context: v.optional(text(800)),
  /** The present value, when the page shows one. */
  value: v.optional(text(2000)),
});
export type ThinkingField = v.InferOutput<typeof ThinkingField>;

const ThinkingPage = v.strictObject({ url: text(8192), title: text(4000), text: text(MAX_THINKING_PAGE_TEXT) });
const Actions = v.pipe(v.array(v.record(v.string(), v.unknown())), v.maxLength(10));

/** The value of one field. Answer: `{ text: string | null }`. */
export const FieldTextRequest = v.strictObject({
  kind: v.literal('field_text'),
  goal: text(8000),
  field: ThinkingField,
  page: ThinkingPage,
  recent_actions: Actions,
});
/** The address of a site that a command names. Sees the current origin and nothing else of the page. Answer: `{ text }`. */
export const AddressRequest = v.strictObject({
  kind: v.literal('address'),
  command: text(4000),
  origin: text(300),
});
/** Whether fresh evidence shows the whole goal reached. Answer: `{ verified: boolean }`. */
export const VerifyRequest = v.strictObject({
  kind: v.literal('verify'),
  goal: text(8000),
  page: v.strictObject({
    url: text(8192),
    title: text(4000),
    text: text(24_000),
    /** Visible controls with their values, as JSON. */
    elements: v.pipe(v.array(v.record(v.string(), v.unknown())), v.maxLength(150)),
  }),
  recent_actions: Actions,
});
/** One action chosen from listed options on a screenshot. Answer: `{ choice: string | null }`. */
export const ActionRequest = v.strictObject({
  kind: v.literal('action'),
  goal: text(8000),
  options: v.record(v.string(), v.unknown()),
  state: v.record(v.string(), v.unknown()),
  image: v.optional(v.strictObject({ mimeType: v.picklist(['image/png', 'image/jpeg']), data: v.string() })),
});

export const ThinkingRequest = v.variant('kind', [FieldTextRequest, AddressRequest, VerifyRequest, ActionRequest]);
export type ThinkingRequest = v.InferOutput<typeof ThinkingRequest>;

/** Callers check the member that they asked for themselves: a helper's answer is not trusted to have the right type. */
export const ThinkingReply = v.record(v.string(), v.unknown());
export type ThinkingReply = v.InferOutput<typeof ThinkingReply>;

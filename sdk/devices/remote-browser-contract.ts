/** The Remote Browser wire contract (wire-contracts section 1), shared by the device server and its clients. */
import * as v from 'valibot';

/** Characters that one tool reply may hold. */
export const MAX_REPLY_CHARS = 1024 * 1024;
/** Milliseconds that a lease lives without renewal. */
export const LEASE_TTL_MS = 60_000;
export const SCROLL_PIXELS = 500;

export const browserMutations = [
  'page_click',
  'page_type',
  'page_select',
  'page_scroll',
  'page_keypress',
  'tab_history',
  'tab_navigate',
] as const;
export const browserLeaseTools = ['browser_task_acquire', 'browser_task_renew', 'browser_task_release'] as const;
export const browserReads = ['page_observe', 'page_screenshot', 'operation_status'] as const;
export const browserKeys = [
  'Enter',
  'Tab',
  'Escape',
  'Backspace',
  'ArrowUp',
  'ArrowDown',
  'ArrowLeft',
  'ArrowRight',
] as const;
export type BrowserKey = (typeof browserKeys)[number];
export type BrowserMutation = (typeof browserMutations)[number];

const text = (max: number) => v.pipe(v.string(), v.maxLength(max));

export const ElementOption = v.object({
  ref: text(100),
  label: text(250),
  disabled: v.boolean(),
  selected: v.boolean(),
});
const WrittenElement = v.object({
  ref: text(100),
  label: text(250),
  context: v.optional(text(800)),
  value_now: v.optional(text(100)),
  value_text: v.optional(text(500)),
  type: v.optional(
    v.nullable(
      v.pipe(
        v.string(),
        v.transform((type) => type.slice(0, 32)),
      ),
    ),
  ),
  tag: v.string(),
  /** Without one, the tag says what it is. */
  role: v.optional(v.string()),
  value: v.optional(text(2000)),
  value_truncated: v.optional(v.boolean()),
  checked: v.optional(v.union([v.boolean(), v.string()])),
  selected: v.optional(v.string()),
  expanded: v.optional(v.string()),
  disabled: v.optional(v.boolean()),
  readonly: v.optional(v.boolean()),
  sensitive: v.optional(v.boolean()),
  operations: v.pipe(v.array(v.picklist(['CLICK', 'TYPE_TEXT', 'SELECT'])), v.maxLength(3)),
  options: v.optional(v.pipe(v.array(ElementOption), v.maxLength(100))),
  options_truncated: v.optional(v.boolean()),
  /** Only `false` says that it is out of view. */
  in_viewport: v.optional(v.boolean()),
  /** What covers the control, in words. A click on it is refused until that is gone. */
  obscured: v.optional(text(400)),
});
export type ObservedElement = v.InferOutput<typeof WrittenElement>;

/**
 * What a device may leave out, because its absence says the same: most controls of a page are in view, and a third are
 * buttons by their tag. Readers have both filled in.
 */
export function withoutImplied({ role, in_viewport, ...element }: ObservedElement): ObservedElement {
  return {
    ...element,
    ...(role === undefined || (role === 'button' && element.tag === 'button') ? {} : { role }),
    ...(in_viewport === false ? { in_viewport } : {}),
  };
}

const withImplied = (element: ObservedElement): ObservedElement => ({
  ...element,
  ...(element.role === undefined && element.tag === 'button' ? { role: 'button' } : {}),
  in_viewport: element.in_viewport ?? true,
});

export const ObservedElement = v.pipe(WrittenElement, v.transform(withImplied));

export const Observation = v.object({
  protocol_version: v.literal(1),
  generation: text(100),
  url: text(8192),
  title: text(4000),
  text: text(24_000),
  viewport_text: v.optional(text(6000)),
  elements: v.pipe(v.array(ObservedElement), v.maxLength(150)),
  scroll: v.object({ y: v.optional(v.pipe(v.number(), v.finite())), up: v.boolean(), down: v.boolean() }),
  truncated: v.object({
    text: v.boolean(),
    elements: v.boolean(),
    viewport_elements: v.optional(v.boolean()),
    title: v.optional(v.boolean()),
    url: v.optional(v.boolean()),
  }),
  navigation: v.optional(v.object({ can_go_back: v.boolean(), can_go_forward: v.boolean() })),
  /** What happened around the page: a dialog, a download, another window, a request that failed. Told once each. */
  notices: v.optional(v.pipe(v.array(v.object({ kind: text(40), text: text(400) })), v.maxLength(40))),
});
export type Observation = v.InferOutput<typeof Observation>;

/** A page's picture, bound to the generation that it shows (DECISIONS 27). */
export const Screenshot = v.object({
  generation: text(100),
  mimeType: v.picklist(['image/png', 'image/jpeg']),
  /** Base64. */
  data: v.string(),
  width: v.number(),
  height: v.number(),
  /** Picture pixels per CSS pixel. */
  scale: v.number(),
  viewport: v.object({ width: v.number(), height: v.number() }),
  /** Sensitive fields that were painted out. */
  masked: v.number(),
  capturedAt: v.number(),
});
export type Screenshot = v.InferOutput<typeof Screenshot>;

/** What the device has on record of one operation, for a day. */
export const OperationStatus = v.object({
  operation_id: text(100),
  /**
   * `accepted`: recorded, nothing sent yet. `dispatched`: input may have reached the page. `completed`, `not_executed`:
   * certain. `unknown`: dispatched, and its end was not seen. `not_found`: no record.
   */
  state: v.picklist(['accepted', 'dispatched', 'completed', 'not_executed', 'unknown', 'not_found']),
  operation: v.optional(v.string()),
  /** Why it was not carried out. Not called `error`: the status itself was read well. */
  code: v.optional(v.string()),
  cause: v.optional(v.string()),
  accepted_at: v.optional(v.number()),
  settled_at: v.optional(v.number()),
});
export type OperationStatus = v.InferOutput<typeof OperationStatus>;

/** What the relay offers at `/v1/grants` (wire-contracts 2.7). */
export const GrantsReply = v.object({
  grants: v.array(
    v.object({
      id: text(120),
      deviceId: text(120),
      label: text(250),
      online: v.boolean(),
      ready: v.boolean(),
      expiresAt: v.optional(v.number()),
      policy: v.object({ control: v.boolean(), tabs: v.array(v.object({ id: text(120), title: v.string() })) }),
    }),
  ),
});
export type GrantsReply = v.InferOutput<typeof GrantsReply>;

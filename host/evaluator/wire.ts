/**
 * The wire contract as a provider sees it: which requests are good, and how a bad one is refused. Refusals have the three
 * shapes that clients meet in the field: an object, a text, and a list of places.
 */
import type { JevQuestion } from '../../sdk/contract/jev.ts';
import type { EngineRequest } from './engine.ts';

/** Bytes that a request may have, images included. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;
const MAX_OPTIONS = 255;
const MAX_LEVELS = 10;
const MAX_DEPTH = 64;

/** What names the real service resolves to. */
const ALIASES: Readonly<Record<string, string>> = {
  'jev-latest': 'jev-1.13.0',
  'jev-1.13': 'jev-1.13.0',
  'jev-preview': 'jev-1.14.0',
};

export const models = [
  { name: 'jev-1.13.0', description: 'Stand-in for text decisions', release_date: '2026-09-15' },
  { name: 'jev-1.14.0', description: 'Stand-in with images and boxes', release_date: '2026-10-13' },
  { name: 'jev-latest', description: 'Alias of jev-1.13.0', release_date: '2026-09-15' },
];

export class WireError extends Error {
  readonly status: number;
  readonly body: unknown;
  constructor(status: number, body: unknown) {
    super(`refused with ${status}`);
    this.status = status;
    this.body = body;
  }
}

const usageError = (message: string): WireError =>
  new WireError(400, { detail: { error_type: 'api_usage_error', message } });
const plainError = (detail: string): WireError => new WireError(400, { detail });
const placeError = (loc: (string | number)[], msg: string, type = 'value_error'): WireError =>
  new WireError(422, { detail: [{ type, loc: ['body', ...loc], msg }] });

/** The version that an answer names. A catalogue's prefix is not part of it. */
export function resolvedModel(model: string): string {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? name) : name;
}

export interface WireRequest extends EngineRequest {
  requestId?: string;
}

/**
 * @param upstream the compatible shape, which carries `request_id`.
 * @param images whether the request opened the images preview.
 * @throws WireError
 */
export function readWireRequest(body: unknown, upstream: boolean, images: boolean): WireRequest {
  if (!isObject(body)) throw placeError([], 'Input should be a valid dictionary', 'model_attributes_type');
  const { model, state, questions, assets, request_id: requestId } = body;
  if (typeof model !== 'string' || model === '') throw placeError(['model'], 'Field required', 'missing');
  if (!isContent(state)) throw placeError(['state'], 'Input should be a string, an object or an array');
  if (tooDeep(body, 0)) throw usageError('Invalid request.');
  if (!isObject(questions)) throw placeError(['questions'], 'Field required', 'missing');
  const ids = Object.keys(questions);
  if (ids.length === 0) throw plainError('At least one question is required.');
  for (const id of ids) checkQuestion(id, questions[id], images, model);
  if (upstream && (typeof requestId !== 'string' || requestId === '')) {
    throw placeError(['request_id'], 'Field required', 'missing');
  }
  if (assets !== undefined) checkAssets(assets, images, state, questions);
  return {
    model,
    state,
    questions: questions as Record<string, JevQuestion>,
    ...(isObject(assets) ? { assets } : {}),
    ...(typeof requestId === 'string' ? { requestId } : {}),
  };
}

function checkQuestion(id: string, question: unknown, images: boolean, model: string): void {
  if (id === '') throw placeError(['questions'], 'A question id must not be empty');
  if (!isObject(question)) throw placeError(['questions', id], 'Input should be a valid dictionary');
  const { type, instructions, criteria } = question;
  if (instructions !== undefined && !isContent(instructions)) {
    throw placeError(
      ['questions', id, String(type), 'instructions'],
      'Input should be a string, an object or an array',
    );
  }
  switch (type) {
    case 'noul':
      if (criteria === undefined || criteria === null) return;
      if (!isObject(criteria)) throw placeError(['questions', id, 'noul', 'criteria'], 'Input should be an object');
      return;
    case 'choice': {
      if (!isObject(criteria)) {
        throw placeError(['questions', id, 'choice', 'criteria'], 'Input should be a valid dictionary', 'dict_type');
      }
      const count = Object.keys(criteria).length;
      if (count === 0) throw plainError(`Choice question must have at least one choice: ${id}`);
      if (count > MAX_OPTIONS) throw plainError(`Too many choices. Must have at most ${MAX_OPTIONS} choices.`);
      return;
    }
    case 'score':
      if (!Array.isArray(criteria) || criteria.length === 0) {
        throw placeError(['questions', id, 'score', 'criteria'], 'Input should be a valid list', 'list_type');
      }
      if (criteria.length > MAX_LEVELS) {
        throw plainError(`Too many score levels. Must have at most ${MAX_LEVELS} levels.`);
      }
      return;
    case 'box':
      if (!images) throw usageError('Invalid request.');
      if (/^jev-1\.(?:\d|1[0-3])(?:\.|$)/.test(resolvedModel(model)))
        throw usageError(`Unknown question type for ${model}`);
      return;
    default:
      throw usageError('Invalid request.');
  }
}

function checkAssets(assets: unknown, images: boolean, state: unknown, questions: unknown): void {
  if (!images) throw usageError('Invalid request.');
  if (!isObject(assets)) throw placeError(['assets'], 'Input should be a valid dictionary', 'dict_type');
  for (const [ref, asset] of Object.entries(assets)) {
    if (!isObject(asset) || asset.type !== 'image' || typeof asset.data_base64 !== 'string') {
      throw placeError(['assets', ref], 'Input should be an image');
    }
    if (asset.format !== 'png' && asset.format !== 'jpeg') throw usageError('Unsupported image format');
    if (!mentions(state, ref) && !mentions(questions, ref)) throw usageError(`Unreferenced asset: ${ref}`);
  }
}

function mentions(value: unknown, ref: string): boolean {
  if (typeof value === 'string') return value.includes(ref);
  return typeof value === 'object' && value !== null && Object.values(value).some((entry) => mentions(entry, ref));
}

function tooDeep(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth > MAX_DEPTH || Object.values(value).some((entry) => tooDeep(entry, depth + 1));
}

function isContent(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Checks a request whole before anything is queued, and takes what the rest of the service needs from it: the JSON that
 * is sent, and a plan of the questions that the answers are held against. Afterwards the caller's object is not read
 * again, so that a caller that changes it while the request is on its way changes nothing.
 */
import { refuse } from '../../sdk/contract/errors.ts';
import { checkImage } from './image-check.ts';

/** Levels of objects and arrays in one request. */
export const MAX_DEPTH = 32;
/** Characters of a question id or an option key. */
export const MAX_KEY_CHARS = 1024;
export const MAX_OPTIONS = 255;
const MIN_LEVELS = 2;
export const MAX_LEVELS = 10;
/** Bytes that all images of a request may have together. */
const MAX_IMAGES_BYTES = 32 * 1024 * 1024;
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);
const SHORTEST_FORBIDDEN = '__proto__'.length;
const REQUEST_ID = /^[\x21-\x7e]{1,256}$/;

export interface RequestLimits {
  maxInputBytes: number;
  maxQuestions: number;
  images: { enabled: boolean; maxImageBytes: number };
}

/** What an answer to one question must look like. */
export type QuestionPlan =
  | { id: string; type: 'noul' }
  | { id: string; type: 'choice'; options: readonly string[] }
  | { id: string; type: 'score'; levels: number }
  | { id: string; type: 'box' };

export interface ValidRequest {
  requestId?: string;
  /** JSON texts, as they are sent. */
  state: string;
  questions: string;
  assets?: string;
  plan: readonly QuestionPlan[];
  /** Whether the images model and its header are needed. */
  needsImages: boolean;
}

/** @throws JEV_INVALID_REQUEST with the path of what is wrong. */
export function validateRequest(input: unknown, limits: RequestLimits): ValidRequest {
  if (!isPlainObject(input)) invalid('', 'the request is not an object');
  for (const key of Object.keys(input)) {
    if (key !== 'state' && key !== 'questions' && key !== 'requestId' && key !== 'assets') invalid(key, 'unknown key');
  }
  const { state, questions, requestId } = input;
  const assets = input.assets;
  if (requestId !== undefined && (typeof requestId !== 'string' || !REQUEST_ID.test(requestId))) {
    invalid('requestId', '1 to 256 printable ASCII characters without spaces are allowed');
  }
  checkContent(state, { part: 'state' });
  if (!isPlainObject(questions)) invalid('questions', 'an object of questions is needed');
  const ids = Object.keys(questions);
  if (ids.length === 0) invalid('questions', 'at least one question is needed');
  if (ids.length > limits.maxQuestions) invalid('questions', `at most ${limits.maxQuestions} questions are allowed`);
  const plan = ids.map((id) => planQuestion(id, questions[id], limits));

  const stateText = JSON.stringify(state);
  const questionsText = JSON.stringify(questions);
  checkSize(stateText, questionsText, requestId, limits.maxInputBytes);

  const valid: ValidRequest = {
    state: stateText,
    questions: questionsText,
    plan,
    needsImages: plan.some((question) => question.type === 'box'),
  };
  if (requestId !== undefined) valid.requestId = requestId;
  if (assets !== undefined) {
    valid.assets = checkAssets(assets, state, questions, limits);
    valid.needsImages = true;
  }
  return valid;
}

/** A place in the request, put into words only when something is wrong there. */
interface Place {
  /** The question's id, if it is in one. */
  id?: string;
  part: string;
}

function planQuestion(id: string, question: unknown, limits: RequestLimits): QuestionPlan {
  checkKey(id, 'questions');
  if (!isPlainObject(question)) invalid(placeText({ id, part: '' }), 'a question is an object');
  for (const key in question) {
    if (key !== 'type' && key !== 'instructions' && key !== 'criteria')
      invalid(placeText({ id, part: key }), 'unknown key');
  }
  const { type, criteria } = question;
  if (typeof question.instructions !== 'string') checkContent(question.instructions, { id, part: 'instructions' });
  switch (type) {
    case 'noul':
      checkNoulCriteria(criteria, id);
      return { id, type };
    case 'choice':
      return { id, type, options: checkOptions(criteria, { id, part: 'criteria' }) };
    case 'score':
      return { id, type, levels: checkLevels(criteria, id) };
    case 'box':
      if (!limits.images.enabled) {
        invalid(placeText({ id, part: 'type' }), 'box questions need images to be enabled');
      }
      if (criteria !== undefined) invalid(placeText({ id, part: 'criteria' }), 'a box question has none');
      return { id, type };
    default:
      return invalid(placeText({ id, part: 'type' }), 'noul, choice, score or box is needed');
  }
}

function checkNoulCriteria(criteria: unknown, id: string): void {
  if (criteria === undefined) return;
  const place = { id, part: 'criteria' };
  if (!isPlainObject(criteria)) invalid(placeText(place), 'an object with "true", "false" or both is needed');
  for (const key of Object.keys(criteria)) {
    if (key !== 'true' && key !== 'false') invalid(placeText(place), 'only "true" and "false" are allowed');
    checkContent(criteria[key], { id, part: `criteria.${key}` });
  }
}

function checkOptions(criteria: unknown, place: Place): string[] {
  if (!isPlainObject(criteria)) invalid(placeText(place), 'an object of options is needed');
  const options: string[] = [];
  for (const option in criteria) {
    if (isBadKey(option)) checkKey(option, placeText(place));
    const description = criteria[option];
    if (typeof description !== 'string' && description !== null) checkContent(description, place);
    options.push(option);
  }
  if (options.length === 0 || options.length > MAX_OPTIONS) {
    invalid(placeText(place), `1 to ${MAX_OPTIONS} options are allowed`);
  }
  return options;
}

function checkLevels(criteria: unknown, id: string): number {
  const place = { id, part: 'criteria' };
  if (!Array.isArray(criteria)) invalid(placeText(place), 'a list of levels, lowest first, is needed');
  if (criteria.length < MIN_LEVELS || criteria.length > MAX_LEVELS) {
    invalid(placeText(place), `${MIN_LEVELS} to ${MAX_LEVELS} levels are allowed`);
  }
  for (let level = 0; level < criteria.length; level++) {
    if (typeof criteria[level] !== 'string') checkContent(criteria[level], { id, part: `criteria.${level}` });
  }
  return criteria.length;
}

/** Text, an object or an array, all the way down plain JSON. */
function checkContent(value: unknown, place: Place): void {
  if (typeof value === 'string') return;
  if (typeof value !== 'object' || value === null) {
    invalid(placeText(place), 'text, an object or an array is needed');
  }
  checkJson(value, place, 1);
}

function checkJson(value: unknown, place: Place, depth: number): void {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return;
    case 'number':
      if (!Number.isFinite(value)) invalid(placeText(place), 'a number that JSON cannot hold');
      return;
    case 'object':
      break;
    default:
      invalid(placeText(place), `JSON has no ${typeof value}`);
  }
  if (value === null) return;
  if (depth > MAX_DEPTH) invalid(placeText(place), `nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) checkJson(value[index], place, depth + 1);
    return;
  }
  if (!isPlainObject(value)) invalid(placeText(place), 'only plain objects are allowed');
  for (const key of Object.keys(value)) checkJson(value[key], place, depth + 1);
}

function placeText({ id, part }: Place): string {
  if (id === undefined) return part;
  return part === '' ? `questions.${id.slice(0, 80)}` : `questions.${id.slice(0, 80)}.${part}`;
}

/** Most keys are shorter than the shortest forbidden one, and need no look into the set. */
function isBadKey(key: string): boolean {
  return (
    key.length === 0 || (key.length >= SHORTEST_FORBIDDEN && (key.length > MAX_KEY_CHARS || FORBIDDEN_KEYS.has(key)))
  );
}

function checkKey(key: string, path: string): void {
  if (key.length === 0 || key.length > MAX_KEY_CHARS) invalid(path, `a key has 1 to ${MAX_KEY_CHARS} characters`);
  if (FORBIDDEN_KEYS.has(key)) invalid(path, `"${key}" is not allowed as a key`);
}

/** Counts the request as its caller would write it, without images. */
function checkSize(state: string, questions: string, requestId: string | undefined, limit: number): void {
  const id = requestId === undefined ? 0 : ',"requestId":'.length + JSON.stringify(requestId).length;
  const envelope = '{"state":,"questions":}'.length + id;
  // Most requests are far below the limit even if every character took three bytes.
  if ((state.length + questions.length) * 3 + envelope <= limit) return;
  const bytes = Buffer.byteLength(state) + Buffer.byteLength(questions) + envelope;
  if (bytes > limit) invalid('', `the request has ${bytes} bytes, ${limit} are allowed`);
}

function checkAssets(
  assets: unknown,
  state: unknown,
  questions: Record<string, unknown>,
  limits: RequestLimits,
): string {
  if (!limits.images.enabled) invalid('assets', 'images are not enabled');
  if (!isPlainObject(assets)) invalid('assets', 'an object of images is needed');
  const refs = Object.keys(assets);
  if (refs.length === 0) invalid('assets', 'at least one image is needed');
  let total = 0;
  for (const ref of refs) {
    const path = `assets.${ref.slice(0, 80)}`;
    checkKey(ref, path);
    const checked = checkImage(assets[ref], limits.images.maxImageBytes);
    if ('problem' in checked) invalid(path, checked.problem);
    total += checked.bytes;
    if (total > MAX_IMAGES_BYTES) invalid('assets', `all images together may have ${MAX_IMAGES_BYTES} bytes`);
    if (!mentions(state, ref) && !mentions(questions, ref)) {
      invalid(path, 'the reference appears neither in the state nor in a question');
    }
  }
  return JSON.stringify(assets);
}

/** Only values are looked at: a provider does not replace references in keys. */
function mentions(value: unknown, ref: string): boolean {
  if (typeof value === 'string') return value.includes(ref);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((entry) => mentions(entry, ref));
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function invalid(path: string, problem: string): never {
  return refuse('JEV_INVALID_REQUEST', path === '' ? { problem } : { path, problem });
}

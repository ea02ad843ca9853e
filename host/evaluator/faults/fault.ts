/** The kinds of fault, and how one is written down. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WireRequest } from '../wire.ts';

export type Body = Record<string, unknown>;

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  wire: WireRequest;
  /** The right answer. */
  answer: Body;
}

/** Changes the right answer, which is then sent as usual. */
export interface AnswerFault {
  kind: 'answer';
  says: string;
  change(answer: Body, wire: WireRequest): unknown;
}
/** Responds by itself. */
export interface ResponseFault {
  kind: 'response';
  says: string;
  respond(exchange: Exchange): void;
}
export type Fault = AnswerFault | ResponseFault;

export function answer(says: string, change: AnswerFault['change']): AnswerFault {
  return { kind: 'answer', says, change };
}

export function respond(says: string, to: ResponseFault['respond']): ResponseFault {
  return { kind: 'response', says, respond: to };
}

export function text(status: number, type: string, body: string): ResponseFault['respond'] {
  return ({ response }) => {
    response.writeHead(status, { 'content-type': type });
    response.end(body);
  };
}

/** Every capability of the contract, by id. */
import type { CapabilityId } from '../../../sdk/contract/manifest.ts';
import type { Capability } from './capability.ts';
import { cdpCall } from './cdp-call.ts';
import { clock, random } from './clock-random.ts';
import { httpFetch } from './http-fetch.ts';
import { image } from './image.ts';
import { jevEvaluate } from './jev-evaluate.ts';
import { log } from './log.ts';
import { modelMessages } from './model-messages.ts';
import { program } from './program.ts';
import { programs } from './programs.ts';
import { speech } from './speech.ts';
import { storage } from './storage.ts';
import { task } from './task.ts';
import { tasksControl } from './tasks-control.ts';
import { thinkingAssist } from './thinking-assist.ts';
import { thinkingProvider } from './thinking-provider.ts';
import { toolsCall } from './tools-call.ts';

export const capabilities: { readonly [Id in CapabilityId]: Capability<Id> } = {
  'jev.evaluate': jevEvaluate,
  'tools.call': toolsCall,
  'thinking.provider': thinkingProvider,
  'thinking.assist': thinkingAssist,
  'model.messages': modelMessages,
  task,
  image,
  storage,
  clock,
  random,
  log,
  'cdp.call': cdpCall,
  'tasks.control': tasksControl,
  speech,
  program,
  programs,
  'http.fetch': httpFetch,
};

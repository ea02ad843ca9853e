/**
 * Capabilities that other rooms of the host serve: the caller of the run supplies the port, or the capability is denied.
 * Each port checks what it is asked; the frame around them holds the grant's narrowing.
 */
import { refuse } from '../../../sdk/contract/errors.ts';
import type { Capability } from './capability.ts';
import { parsed } from './json.ts';

const only = (allowed: readonly string[] | undefined, capabilityId: string, name: string): void => {
  if (allowed && !allowed.includes(name)) refuse('CAPABILITY_DENIED', { capability: `${capabilityId} ${name}` });
};

export const modelMessages: Capability<'model.messages'> = {
  id: 'model.messages',
  create({ ports: { model }, cancelled }) {
    return model && { messages: async ([text]) => JSON.stringify(await model(parsed(text), cancelled)) };
  },
};

export const image: Capability<'image'> = {
  id: 'image',
  create({ ports: { image: transform }, cancelled }) {
    if (!transform) return undefined;
    return {
      async transform([operation, bytes]) {
        const { info, data } = await transform(parsed(operation), bytes, cancelled);
        return { info: JSON.stringify(info), data };
      },
    };
  },
};

export const cdpCall: Capability<'cdp.call'> = {
  id: 'cdp.call',
  create({ ports: { cdp }, narrowing, ended }) {
    if (!cdp) return undefined;
    return {
      async call([method, params]) {
        // A protocol without a list of methods would be the whole browser.
        only(narrowing.methods ?? [], 'cdp.call', method);
        return JSON.stringify(await cdp(method, parsed(params), ended));
      },
    };
  },
};

export const tasksControl: Capability<'tasks.control'> = {
  id: 'tasks.control',
  create({ ports: { control }, cancelled }) {
    return control && { control: async ([text]) => JSON.stringify(await control(parsed(text), cancelled)) };
  },
};

export const speech: Capability<'speech'> = {
  id: 'speech',
  create({ ports: { transcribe, speak }, cancelled }) {
    if (!transcribe && !speak) return undefined;
    return {
      async transcribe([options, audio]) {
        if (!transcribe) refuse('CAPABILITY_DENIED', { capability: 'speech' });
        return JSON.stringify(await transcribe(parsed(options), audio, cancelled));
      },
      async speak([options]) {
        if (!speak) refuse('CAPABILITY_DENIED', { capability: 'speech' });
        return speak(parsed(options), cancelled);
      },
    };
  },
};

/** One more tool for agents. It asks for no capability at all: it can count, and nothing else. */
import { defineHelper } from 'jev-host/sdk';
import * as v from 'valibot';
import manifest from './plugin.json' with { type: 'json' };

const Input = v.strictObject({
  text: v.pipe(v.string(), v.maxLength(100_000)),
  language: v.optional(v.pipe(v.string(), v.regex(/^[a-z]{2,3}(-[A-Za-z0-9]+)*$/)), 'en'),
});

export default defineHelper(manifest, {
  tools: {
    count_words(args) {
      const { text, language } = v.parse(Input, args);
      let words = 0;
      for (const { isWordLike } of new Intl.Segmenter(language, { granularity: 'word' }).segment(text)) {
        if (isWordLike) words += 1;
      }
      return { words, characters: [...text].length };
    },
  },
});

/** Entry of the process that checks programs. It has no environment, no arguments and one pipe to its host. */
import { Checker } from './checker.ts';

const checker = new Checker();

// The first checks of a fresh compiler take ten times as long as later ones: pay for them before anybody waits.
for (let round = 0; round < 3; round++)
  checker.check({
    declarations: 'declare const input: number;',
    code: `const round: number = ${round}; return round;`,
  });

process.on('message', ({ number, request }: { number: number; request: never }) => {
  try {
    process.send?.({ number, result: checker.check(request) });
  } catch (error) {
    process.send?.({ number, failed: error instanceof Error ? error.message : String(error) });
  }
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

/** Checks a program without a host: arguments, references, schemas, input and types. */
import { checkReferences } from '../../plugins/programs/artifact.ts';
import { declarationsFor } from '../../plugins/programs/declarations.ts';
import { conformingText } from '../../plugins/programs/schema-match.ts';
import { checkSchema } from '../../plugins/programs/schema-subset.ts';
import type { ProgramDiagnostic, ProgramTool } from '../../sdk/contract/program.ts';
import { MAX_VALUE_BYTES } from '../../sdk/contract/program-runner.ts';
import type { TypeCheck } from '../programs/check/type-check.ts';
import type { ProgramFile } from './program-file.ts';

/**
 * @param tools what a running host says about the references; without it their arguments and results are not checked
 * @throws PROGRAM_INVALID for everything that is not about types
 */
export async function checkProgram(
  { program, input }: ProgramFile,
  typeCheck: Pick<TypeCheck, 'check'>,
  tools?: readonly ProgramTool[],
): Promise<ProgramDiagnostic[]> {
  checkReferences(program.requires);
  const inputSchema = checkSchema(program.inputSchema);
  checkSchema(program.outputSchema);
  if (input !== undefined) conformingText(input, inputSchema, 'Program input', MAX_VALUE_BYTES);
  const known = tools ?? program.requires.filter((ref) => !ref.startsWith('jev.')).map((ref) => ({ ref }));
  const { diagnostics } = await typeCheck.check({
    declarations: declarationsFor({ inputSchema, requires: program.requires, tools: known, observes: true }),
    code: program.code,
  });
  return diagnostics;
}

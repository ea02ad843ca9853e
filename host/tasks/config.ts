/** `retention`: how long finished things stay. Open tasks and unsettled receipts always stay. */
import * as v from 'valibot';

const int = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

export const RetentionConfig = v.strictObject({
  tasksDays: v.optional(
    v.pipe(int(1, 3650), v.description('Days that a finished task stays, with its receipts and evidence.')),
    90,
  ),
  evidenceDays: v.optional(
    v.pipe(int(0, 3650), v.description('Days that page observations of finished tasks stay.')),
    14,
  ),
  eventsPerConversation: v.optional(
    v.pipe(int(100, 1_000_000), v.description('Events that one conversation keeps for clients that come back.')),
    10_000,
  ),
  auditDays: v.optional(
    v.pipe(int(30, 36_500), v.description('Days that audit entries stay; what is pruned leaves an anchor.')),
    3650,
  ),
});
export type RetentionConfig = v.InferOutput<typeof RetentionConfig>;

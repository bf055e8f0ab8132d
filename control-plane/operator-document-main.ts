/** Prints the document. The build makes the types of the dashboard of it. */
import { operatorDocument } from './operator-document.ts';

process.stdout.write(await operatorDocument(), () => process.exit());

"""Prints what a reasoner (OWL 2 RL) finds contradictory in JSON-LD files, all of them together; exit code 1 if there is anything.

Beside that it prints each term of another vocabulary of which the axioms say nothing, and each literal where a thing has to be, or the
other way round, which rules of OWL 2 RL do not find.
"""
import sys

from owlrl.OWLRL import OWLRL_Semantics
from rdflib import OWL, RDF, Graph, Literal

OTHERS = ("http://www.w3.org/ns/", "http://purl.org/dc/", "http://qudt.org/schema/", "https://schema.org/")


def main(axioms, *files):
    known = Graph().parse(axioms)
    graph = Graph() + known
    for file in files:
        graph.parse(file, format="json-ld")
    used = {p for _, p, _ in graph} | set(graph.objects(None, RDF.type))
    of_others = [term for term in used if str(term).startswith(OTHERS)]
    faults = [f"no axiom about {term}" for term in of_others if (term, None, None) not in known]
    for form, is_right in ((OWL.ObjectProperty, False), (OWL.DatatypeProperty, True)):
        for p in graph.subjects(RDF.type, form):
            wrong = [o for o in graph.objects(None, p) if isinstance(o, Literal) is not is_right]
            faults += [f"{p} of {o}" for o in wrong]
    reasoner = OWLRL_Semantics(graph, axioms=False, daxioms=False)
    reasoner.closure()
    faults += reasoner.error_messages
    print("\n".join(sorted(faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

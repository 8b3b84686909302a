"""Tests layouts: their text, the places of workers, and what is refused. Needs no torch."""

import os
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, ROOT)
import stint  # noqa: E402
from stint.layouts import Layout, LayoutError, fitted  # noqa: E402


class Texts(unittest.TestCase):
    """Names are sentences."""

    def test_words_say_degrees_and_absent_ones_are_one(self):
        layout = Layout("dp16 tp4 pp2 zero1 mb2 recompute:full")
        self.assertEqual((layout.data, layout.tensor, layout.pipeline), (16, 4, 2))
        self.assertEqual((layout.zero, layout.micro_batch, layout.recompute), (1, 2, "full"))
        self.assertEqual((layout.workers, layout.model, layout.virtual), (128, 8, 1))
        plain = Layout("")
        self.assertEqual((plain.workers, plain.zero, plain.micro_batch), (1, 0, None))
        self.assertEqual((plain.recompute, plain.sequence, plain.hybrid), ("none", False, False))

    def test_a_text_is_read_back_as_it_was_written(self):
        for text in ("dp16 tp4 pp2 zero1 mb2 recompute:full", "tp2 sp", "pp4 vp2 mb1",
                     "dp8 zero3 hsdp recompute:selective", "dp1"):
            self.assertEqual(str(Layout(text)), text)
        self.assertEqual(str(Layout("recompute:none pp1 tp2 dp4 zero0")), "dp4 tp2")

    def test_what_is_no_layout_is_refused_with_the_word(self):
        for text, word in (("dp0", "dp0"), ("tp", "'tp'"), ("zero4", "zero4"), ("dp2 dp2", "twice"),
                           ("recompute:all", "recompute:all"), ("ep8", "ep8"), ("dp-1", "dp-1"),
                           ("dp2 zero1 zero2", "twice"), ("vp2", "without a pipeline"),
                           ("dp2 sp", "without tensor"), ("dp2 hsdp", "no ZeRO stage")):
            with self.assertRaises(LayoutError, msg=text) as caught:
                Layout(text)
            self.assertIn(word, str(caught.exception))

    def test_degrees_that_do_not_multiply_to_the_workers_are_refused(self):
        with self.assertRaises(LayoutError) as caught:
            Layout("dp2 tp2", workers=3)
        self.assertEqual(str(caught.exception),
                         "the layout 'dp2 tp2' is for 4 workers (data 2 x tensor 2 x pipeline 1), "
                         "but there are 3; change a degree or the cluster")

    def test_fewer_workers_keep_tensor_and_pipeline_degrees(self):
        self.assertEqual(fitted("dp2 tp2 zero1", 3), "tp2 zero1")
        self.assertEqual(fitted("dp4 zero3 mb2", 3), "dp3 zero3 mb2")
        self.assertEqual(fitted("dp1 tp2", 9), "dp4 tp2")
        with self.assertRaises(LayoutError) as caught:
            fitted("tp2 pp2", 3)
        self.assertIn("needs at least 4 workers", str(caught.exception))


class Places(unittest.TestCase):
    """Names are sentences."""

    def test_tensor_ranks_are_innermost_and_pipeline_ranks_outermost(self):
        places = [Layout("dp2 tp2 pp2", rank, 8) for rank in range(8)]
        self.assertEqual([one.tensor_rank for one in places], [0, 1] * 4)
        self.assertEqual([one.data_rank for one in places], [0, 0, 1, 1] * 2)
        self.assertEqual([one.pipeline_rank for one in places], [0] * 4 + [1] * 4)
        for place in places:
            self.assertEqual(place.at(), place.rank)
        self.assertEqual(places[1].at(pipeline=1), 5)

    def test_groups_are_the_workers_that_differ_in_one_coordinate(self):
        layout = Layout("dp2 tp2 pp2")
        self.assertEqual(layout.members("tensor"), [[0, 1], [2, 3], [4, 5], [6, 7]])
        self.assertEqual(layout.members("data"), [[0, 2], [1, 3], [4, 6], [5, 7]])
        self.assertEqual(layout.members("pipeline"), [[0, 4], [1, 5], [2, 6], [3, 7]])

    def test_hybrid_shards_stay_within_a_vm(self):
        layout = Layout("dp4 zero3 hsdp", 0, 4, workers_per_vm=2)
        self.assertEqual(layout.shard, 2)
        self.assertEqual(layout.members("shard"), [[0, 1], [2, 3]])
        self.assertEqual(layout.members("replica"), [[0, 2], [1, 3]])
        self.assertEqual(Layout("dp4 zero3", 0, 4, workers_per_vm=2).shard, 4)

    def test_the_samples_of_a_step_are_all_shared_out(self):
        shares = [Layout("dp3 tp2", rank, 6).share(8) for rank in range(0, 6, 2)]
        self.assertEqual(shares, [(0, 2), (2, 5), (5, 8)])

    def test_data_ranks_have_equally_many_micro_batches(self):
        shares = [Layout("dp3 mb1", rank, 3).micro_batches(8) for rank in range(3)]
        self.assertEqual(shares, [[(0, 0), (0, 1), (1, 2)], [(2, 3), (3, 4), (4, 5)],
                                  [(5, 6), (6, 7), (7, 8)]])
        self.assertEqual(Layout("dp2 mb4", 1, 2).micro_batches(12), [(6, 9), (9, 12)])
        self.assertEqual(Layout("dp2", 1, 2).micro_batches(12), [(6, 12)])

    def test_the_environment_says_the_layout_of_this_worker(self):
        kept = dict(os.environ)
        try:
            os.environ.update(WORLD_SIZE="4", RANK="3", STINT_LAYOUT="dp2 tp2")
            layout = stint.layout()
            self.assertEqual((layout.data_rank, layout.tensor_rank), (1, 1))
            del os.environ["STINT_LAYOUT"]
            self.assertEqual(str(stint.layout()), "dp4")
            self.assertEqual(str(stint.layout("tp4")), "tp4")
        finally:
            os.environ.clear()
            os.environ.update(kept)


if __name__ == "__main__":
    unittest.main()
